/** Links of mails that programs open before the person does. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { formOf, pressButton } from '#test/press-button.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService({ rateLimits: 'off' })
})
afterAll(() => service.close())

const BACK = 'https://app.example.com/back?x=1&y="<2>"'

/** Opens a link as scanners do: HEAD, GET, and GET with redirects. */
async function scan(link: string): Promise<string> {
  expect((await fetch(link, { method: 'HEAD', redirect: 'manual' })).status).toBe(200)
  const page = await fetch(link, { redirect: 'manual' })
  expect(page.status).toBe(200)
  expect([page.headers.get('location'), page.headers.get('set-cookie')]).toEqual([null, null])
  await fetch(link)
  return page.text()
}

const mailedLinks: Record<string, (email: string) => Promise<{ to: string; button: string; type: string }[]>> = {
  async 'sign-up'(email) {
    await service.newClient().auth.signUp({ email, password: PASSWORD })
    return [{ to: email, button: 'Confirm this address and sign in', type: 'signup' }]
  },
  async recovery(email) {
    await service.signedIn(email)
    await service.newClient().auth.resetPasswordForEmail(email, { redirectTo: BACK })
    return [{ to: email, button: 'Sign in and set a new password', type: 'recovery' }]
  },
  async 'magic link'(email) {
    await service.newClient().auth.signInWithOtp({ email })
    return [{ to: email, button: 'Sign in', type: 'magiclink' }]
  },
  async 'magic link with PKCE'(email) {
    await service.newPkceClient().auth.signInWithOtp({ email })
    return [{ to: email, button: 'Sign in', type: 'magiclink' }]
  },
  async invitation(email) {
    await service.newAdmin().inviteUserByEmail(email)
    return [{ to: email, button: 'Accept the invitation', type: 'invite' }]
  },
  async 'change of address'(email) {
    const { client } = await service.signedIn(email)
    await client.auth.updateUser({ email: `new-${email}` })
    return [
      { to: email, button: 'Allow the change', type: 'email_change' },
      { to: `new-${email}`, button: 'Use this address', type: 'email_change' },
    ]
  },
}

test.each(Object.keys(mailedLinks))('a program that opens the link of a mail uses nothing up: %s', async (name) => {
  const email = `${name.replaceAll(' ', '-').toLowerCase()}@example.test`
  const mails = (await mailedLinks[name]?.(email)) ?? []
  expect(mails.length).toBeGreaterThan(0)
  const stored = async () =>
    (await service.admin.query(`select * from auth.one_time_tokens order by id`)).rows as unknown[]
  const before = await stored()
  for (const { to, button } of mails) {
    const page = await scan(await service.linkFor(to))
    expect(page.match(/<button[^>]*>([^<]*)<\/button>/g)).toEqual([`<button type="submit">${button}</button>`])
    expect(page).toContain(`sent to ${to}`)
    expect(page).not.toMatch(/<script|http-equiv|onload|autofocus/)
  }
  expect(await stored()).toEqual(before)
  let target = ''
  for (const { to, type } of mails) {
    const link = await service.linkFor(to)
    expect(new URL(link).searchParams.get('type')).toBe(type)
    const pressed = await pressButton(link)
    expect(pressed.status).toBe(303)
    target = pressed.headers.get('location') ?? ''
    const again = await fetch(link, { redirect: 'manual' })
    expect([again.status, again.headers.get('location')]).toEqual([303, expect.stringContaining('otp_expired')])
  }
  expect(target).toMatch(/[#?](access_token|code)=/)
})

test('a link of a mail before the newest one has a button too', async () => {
  const email = 'earlier@example.test'
  const client = service.newClient()
  await client.auth.signUp({ email, password: PASSWORD })
  const earlier = await service.linkFor(email)
  await client.auth.resend({ type: 'signup', email })
  expect(await scan(earlier)).toContain(`sent to ${email}`)
  expect((await pressButton(earlier)).headers.get('location')).toContain('access_token=')
})

test('digits of a mail still sign in after a program opened its link', async () => {
  const email = 'digits@example.test'
  await service.newClient().auth.signInWithOtp({ email })
  await scan(await service.linkFor(email))
  const token = await service.codeFor(email)
  const { data } = await service.newClient().auth.verifyOtp({ email, token, type: 'email' })
  expect(data.user?.email).toBe(email)
})

test('wrong, used and expired links tell the page so, by the button too', async () => {
  const email = 'late@example.test'
  await service.newClient().auth.signInWithOtp({ email })
  const link = new URL(await service.linkFor(email))
  const { action, fields } = formOf(await (await fetch(link)).text(), link)
  const press = () => fetch(action, { method: 'POST', redirect: 'manual', body: fields })
  await service.admin.query(`update auth.one_time_tokens set expires_at = now() where relates_to = $1`, [email])
  const answers = [await fetch(link, { redirect: 'manual' }), await press()]
  link.searchParams.set('token', 'wrong')
  answers.push(await fetch(link, { redirect: 'manual' }))
  for (const { status, headers } of answers) {
    expect([status, headers.get('location')]).toEqual([303, expect.stringContaining('error_code=otp_expired')])
  }
})

test('the button leads to allowed pages only, and the policy of its page lets it', async () => {
  const email = 'allowed@example.test'
  await service.newClient().auth.signInWithOtp({ email, options: { emailRedirectTo: BACK } })
  const link = new URL(await service.linkFor(email))
  const opened = await fetch(link)
  expect(opened.headers.get('content-security-policy')).not.toContain('form-action')
  expect(opened.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(opened.headers.get('cache-control')).toBe('no-store')
  const html = await opened.text()
  const { action, fields } = formOf(html, link)
  const style = /<style>(.*)<\/style>/s.exec(html)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  expect(opened.headers.get('content-security-policy')).toContain(`style-src 'sha256-${hash}'`)
  expect(fields.get('redirect_to')).toBe(new URL(BACK).href)
  fields.set('redirect_to', 'https://evil.example.com/')
  const pressed = await fetch(action, { method: 'POST', redirect: 'manual', body: fields })
  expect(pressed.headers.get('location')).toMatch(new RegExp(`^${service.url}/#access_token=`))
})

test.each(['cross-site', 'same-site'])('a page that is %s cannot press the button', async (site) => {
  const email = `led-there-${site}@example.test`
  await service.newClient().auth.signInWithOtp({ email })
  const link = await service.linkFor(email)
  const { action, fields } = formOf(await (await fetch(link)).text(), link)
  const headers = { 'sec-fetch-site': site }
  const led = await fetch(action, { method: 'POST', redirect: 'manual', headers, body: fields })
  expect(led.status).toBe(303)
  const page = new URL(led.headers.get('location') ?? '', action)
  expect(await scan(page.href)).toContain(`sent to ${email}`)
  expect((await pressButton(page)).headers.get('location')).toContain('access_token=')
})
