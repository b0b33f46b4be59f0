/** A change of address of which strangers ask for further mails. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { pressButton } from '#test/press-button.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService({ anonymous: true })
})
afterAll(() => service.close())

/** A person `old-…` who asked to be `new-…`. */
async function changing(name: string) {
  const [oldEmail, newEmail] = [`old-${name}@example.test`, `new-${name}@example.test`]
  const person = await service.signedIn(oldEmail)
  expect((await person.client.auth.updateUser({ email: newEmail })).error).toBeNull()
  const current = async () => (await person.client.auth.getUser()).data.user?.email
  return { ...person, oldEmail, newEmail, current }
}

/** Oldest first; without the mails of the sign-up. */
const links = async (email: string) =>
  (await service.mails(email))
    .map(({ text }) => /https?:\/\/\S+/.exec(text)?.[0] ?? '')
    .filter((link) => link.includes('type=email_change'))
    .toReversed()
const count = async (email: string) => (await links(email)).length

let visitors = 0
/** Each visitor has an address, so that no rate limit is shared. */
const follow = async (link: string | undefined) => {
  const followed = await pressButton(link ?? '', { 'x-forwarded-for': `203.0.113.${(visitors += 1)}` })
  return followed.headers.get('location') ?? ''
}
const ACCEPTED = '#message=Confirmation+link+accepted'

async function resend(email: string) {
  const { error } = await service.newClient().auth.resend({ type: 'email_change', email })
  expect(error).toBeNull()
}
const verify = async (email: string) =>
  service.newClient().auth.verifyOtp({ email, token: await service.codeFor(email), type: 'email_change' })

/** As if the mails of the change had been sent so many hours ago. */
async function makeOlder(userId: string, hours: number) {
  await service.admin.query(
    `update auth.users set email_change_sent_at = email_change_sent_at - make_interval(hours => $2),
       email_change_confirmed_at = email_change_confirmed_at - make_interval(hours => $2)
     where id = $1`,
    [userId, hours],
  )
  for (const table of ['one_time_tokens', 'earlier_links']) {
    await service.admin.query(
      `update auth.${table} set expires_at = expires_at - make_interval(hours => $2) where user_id = $1`,
      [userId, hours],
    )
  }
}

const ORDERS = [
  ['the current address', 'old'],
  ['the new address', 'new'],
] as const

test.each(ORDERS)('a resend keeps the confirmation of %s and writes to the other one', async (_side, first) => {
  for (const by of ['an earlier link', 'the newest code']) {
    const { oldEmail, newEmail, current } = await changing(`${first}-${by.replaceAll(' ', '-')}`)
    const [confirmed, open] = first === 'old' ? [oldEmail, newEmail] : [newEmail, oldEmail]
    expect(await follow((await links(confirmed))[0])).toContain(ACCEPTED)
    for (let n = 0; n < 2; n += 1) await resend(oldEmail)
    expect([await count(confirmed), await count(open)]).toEqual([1, 3])
    if (by === 'the newest code') expect((await verify(open)).error).toBeNull()
    else expect(await follow((await links(open))[0])).toContain('#access_token=')
    expect(await current()).toBe(newEmail)
    expect(await follow((await links(open))[1])).toContain('error_code=otp_expired')
  }
})

test('a resend before either confirmation voids no link; the codes of the earlier mails end', async () => {
  const { oldEmail, newEmail, current } = await changing('open')
  const code = await service.codeFor(newEmail)
  await resend(oldEmail)
  expect([await count(oldEmail), await count(newEmail)]).toEqual([2, 2])
  const late = await service.newClient().auth.verifyOtp({ email: newEmail, token: code, type: 'email_change' })
  expect(late.error?.code).toBe('otp_expired')
  expect(await follow((await links(oldEmail))[0])).toContain(ACCEPTED)
  expect(await follow((await links(newEmail))[0])).toContain('#access_token=')
  expect(await current()).toBe(newEmail)
})

test.each(ORDERS)('two links to %s are one confirmation', async (_side, first) => {
  const { oldEmail, newEmail, current } = await changing(`twice-${first}`)
  const email = first === 'old' ? oldEmail : newEmail
  await resend(oldEmail)
  for (const link of await links(email)) expect(await follow(link)).toContain(ACCEPTED)
  expect(await current()).toBe(oldEmail)
})

test('the page of an earlier link names the address that it was sent to', async () => {
  const { oldEmail, newEmail } = await changing('page')
  await resend(oldEmail)
  for (const email of [oldEmail, newEmail]) {
    const page = await (await fetch((await links(email))[0] ?? '')).text()
    expect(page).toContain(`This link was sent to ${email}.`)
  }
})

test('earlier links end, and a change without a valid link begins again', async () => {
  const { user, oldEmail, newEmail, current } = await changing('over')
  await resend(oldEmail)
  expect(await follow((await links(oldEmail))[0])).toContain(ACCEPTED)
  await makeOlder(user.id, 23)
  await resend(oldEmail)
  expect([await count(oldEmail), await count(newEmail)]).toEqual([2, 3])
  await makeOlder(user.id, 2)
  expect(await follow((await links(newEmail))[1])).toContain('error_code=otp_expired')
  await makeOlder(user.id, 22)
  await resend(oldEmail)
  expect([await count(oldEmail), await count(newEmail)]).toEqual([3, 4])
  expect(await follow((await links(newEmail))[3])).toContain(ACCEPTED)
  expect(await follow((await links(oldEmail))[2])).toContain('#access_token=')
  expect(await current()).toBe(newEmail)
})

test.each(ORDERS)('mails that are sent again do not prolong the confirmation of %s', async (_side, first) => {
  const { user, oldEmail, newEmail, current } = await changing(`prolonged-${first}`)
  const [confirmed, open] = first === 'old' ? [oldEmail, newEmail] : [newEmail, oldEmail]
  expect(await follow((await links(confirmed))[0])).toContain(ACCEPTED)
  for (const hours of [12, 11]) {
    await makeOlder(user.id, hours)
    await resend(oldEmail)
  }
  expect([await count(confirmed), await count(open)]).toEqual([1, 3])
  await service.admin.query(
    `update auth.users set email_change_confirmed_at = email_change_confirmed_at - interval '2 hours' where id = $1`,
    [user.id],
  )
  await resend(oldEmail)
  expect([await count(confirmed), await count(open)]).toEqual([2, 4])
  expect(await follow((await links(open))[3])).toContain(ACCEPTED)
  expect(await current()).toBe(oldEmail)
  expect(await follow((await links(confirmed))[1])).toContain('#access_token=')
  expect(await current()).toBe(newEmail)
})

test('the time of the confirmation is in no answer, and ends with the change', async () => {
  const { client, user, oldEmail, newEmail } = await changing('timed')
  const time = async () => {
    const { rows } = await service.admin.query<{ time: Date | null }>(
      'select email_change_confirmed_at as time from auth.users where id = $1',
      [user.id],
    )
    return rows[0]?.time
  }
  expect(await time()).toBeNull()
  expect(await follow((await links(oldEmail))[0])).toContain(ACCEPTED)
  expect(await time()).toBeInstanceOf(Date)
  expect((await client.auth.getUser()).data.user).not.toHaveProperty('email_change_confirmed_at')
  expect(await follow((await links(newEmail))[0])).toContain('#access_token=')
  expect(await time()).toBeNull()
})

test('no link for an earlier new address confirms a later one', async () => {
  const { client, oldEmail, newEmail, current } = await changing('earlier')
  await resend(oldEmail)
  await client.auth.updateUser({ email: 'later@example.test' })
  for (const link of [...(await links(newEmail)), ...(await links(oldEmail)).slice(0, 2)]) {
    expect(await follow(link)).toContain('error_code=otp_expired')
  }
  expect((await verify('later@example.test')).data.session).toBeNull()
  expect(await current()).toBe(oldEmail)
})

test('nor do links that the operator had made for it', async () => {
  const { oldEmail, current } = await changing('operated')
  const make = async (newEmail: string) => {
    const { data, error } = await service
      .newAdmin()
      .generateLink({ type: 'email_change_new', email: oldEmail, newEmail })
    expect(error).toBeNull()
    return data.properties?.action_link
  }
  const earlier = [await make('one@example.test'), await make('one@example.test')]
  await make('two@example.test')
  for (const link of earlier) expect(await follow(link)).toContain('error_code=otp_expired')
  expect(await current()).toBe(oldEmail)
})

test('a changed password ends the confirmation of one side, also when a stranger asks for a mail after it', async () => {
  const { client, oldEmail, newEmail, current } = await changing('password')
  expect(await follow((await links(newEmail))[0])).toContain(ACCEPTED)
  expect((await client.auth.updateUser({ password: 'a new quiet corner' })).error).toBeNull()
  await resend(oldEmail)
  expect([await count(oldEmail), await count(newEmail)]).toEqual([2, 2])
  expect(await follow((await links(oldEmail))[1])).toContain(ACCEPTED)
  expect(await current()).toBe(oldEmail)
})

test('whether the new address is taken does not show by a resend', async () => {
  await service.signedIn('taken@example.test')
  const seen = []
  for (const [name, email] of [
    ['wants-taken', 'taken@example.test'],
    ['wants-free', 'free@example.test'],
  ] as const) {
    const oldEmail = `${name}@example.test`
    const { client, user } = await service.signedIn(oldEmail)
    await client.auth.updateUser({ email })
    expect(await follow((await links(oldEmail))[0])).toContain(ACCEPTED)
    await resend(oldEmail)
    const whileValid = await count(oldEmail)
    await makeOlder(user.id, 25)
    await resend(oldEmail)
    seen.push([whileValid, await count(oldEmail), (await service.mails(email)).length])
  }
  // The owner of the taken address has the mail of the sign-up as well.
  expect(seen).toEqual([
    [1, 2, 4],
    [1, 2, 3],
  ])
})

test('an account without an address sees no difference between a taken and a free one', async () => {
  await service.signedIn('known@example.test')
  for (const email of ['known@example.test', 'unknown@example.test']) {
    const client = service.newClient()
    await client.auth.signInAnonymously()
    const { data } = await client.auth.updateUser({ email })
    expect(data.user).toMatchObject({ new_email: email, email_change_sent_at: expect.any(String) as string })
  }
})

test('an earlier link with PKCE still ends in a code for the browser that asked for it', async () => {
  const email = 'pkce-resent@example.test'
  await service.signedIn(email)
  const client = service.newPkceClient()
  await client.auth.signInWithPassword({ email, password: PASSWORD })
  await client.auth.updateUser({ email: 'pkce-changed@example.test' })
  await resend(email)
  expect(await follow((await links(email))[0])).toContain('message=Confirmation+link+accepted')
  const target = await follow((await links('pkce-changed@example.test'))[0])
  const { data, error } = await client.auth.exchangeCodeForSession(new URL(target).searchParams.get('code') ?? '')
  expect([data.user?.email, error]).toEqual(['pkce-changed@example.test', null])
})

test('links that are followed while mails are asked for change the address all the same', async () => {
  const { oldEmail, newEmail, current } = await changing('at-once')
  await resend(oldEmail)
  const before = [...(await links(oldEmail)), ...(await links(newEmail))]
  await Promise.all([...before.map(follow), resend(oldEmail), resend(oldEmail)])
  expect(await current()).toBe(newEmail)
})

test.each(ORDERS)('at the update, a running change keeps the confirmation of %s', async (_side, first) => {
  const { user, oldEmail, newEmail, current } = await changing(`updated-${first}`)
  const [confirmed, open] = first === 'old' ? [oldEmail, newEmail] : [newEmail, oldEmail]
  await verify(confirmed)
  const other = await changing(`begun-${first}`)
  await service.admin.query('alter table auth.users drop constraint users_email_change_confirm_status_check')
  await service.admin.query('alter table auth.users drop column email_change_confirmed_at')
  await service.admin.query('update auth.users set email_change_confirm_status = 1 where id = any($1)', [
    [user.id, other.user.id],
  ])
  const migration = new URL('../database/migrations/platform/0039_confirmed_side.sql', import.meta.url)
  await service.admin.query(await readFile(migration, 'utf8'))
  expect((await verify(other.newEmail)).data.session).toBeNull()
  await resend(oldEmail)
  expect([await count(confirmed), await count(open)]).toEqual([1, 2])
  expect((await verify(open)).error).toBeNull()
  expect(await current()).toBe(newEmail)
})
