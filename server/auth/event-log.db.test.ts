import { Writable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createLog } from '#server/base/log.ts'
import { PASSWORD, startAuthService } from '#test/auth-service.ts'

function recordLog() {
  let written = ''
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString()
      done()
    },
  })
  return { log: createLog('info', sink), written: () => written }
}

test('each use of an account is one line, refused or not, without what is secret', async () => {
  const { log, written } = recordLog()
  const service = await startAuthService({ log })
  onTestFinished(() => service.close())
  const { client, session, user } = await service.signedIn('watched@example.test')
  const tokenOfLink = async () => new URL(await service.linkFor('watched@example.test')).searchParams.get('token') ?? ''
  const links = [await tokenOfLink()]
  await service
    .newClient('203.0.113.7')
    .auth.signInWithPassword({ email: 'watched@example.test', password: 'wrong one' })
  const { data: enrolled } = await client.auth.mfa.enroll({ factorType: 'totp' })
  await client.auth.mfa.unenroll({ factorId: enrolled?.id ?? '' })
  await client.auth.updateUser({ password: `${PASSWORD}, changed` })
  await client.auth.refreshSession()
  await client.auth.getUser()
  await client.auth.signOut()
  await service.newClient().auth.resetPasswordForEmail('watched@example.test')
  const code = await service.codeFor('watched@example.test')
  links.push(await tokenOfLink())
  await service.newClient().auth.verifyOtp({ email: 'watched@example.test', token: code, type: 'recovery' })

  const events = written()
    .split('\n')
    .filter((line) => line.includes('an account was used'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const told = events.map(({ action, grant, user: who, status, refused }) => [action, grant, who, status, refused])
  expect(told).toEqual([
    ['POST /signup', undefined, undefined, 200, undefined],
    ['POST /verify/link', undefined, user.id, 303, undefined],
    ['POST /token', 'password', user.id, 200, undefined],
    ['POST /token', 'password', undefined, 400, 'invalid_credentials'],
    ['POST /factors', undefined, user.id, 200, undefined],
    [`DELETE /factors/${enrolled?.id ?? ''}`, undefined, user.id, 200, undefined],
    ['PUT /user', undefined, user.id, 200, undefined],
    ['POST /token', 'refresh_token', user.id, 200, undefined],
    ['POST /logout', undefined, user.id, 204, undefined],
    ['POST /recover', undefined, undefined, 200, undefined],
    ['POST /verify', undefined, user.id, 200, undefined],
  ])
  expect(events[3]?.['address']).toBe('203.0.113.7')
  // Without a mail server the mail itself goes to the log, for the operator to hand on.
  const lines = written()
    .split('\n')
    .filter((line) => !line.includes('no mail server is set'))
    .join('\n')
  for (const link of links) expect(written()).toContain(link)
  const credentials = [PASSWORD, 'wrong one', session.access_token, session.refresh_token, ...links, `"${code}"`]
  for (const secret of [...credentials, 'watched@example.test']) expect(lines).not.toContain(secret)
})

test('a failure of the server is a line of its own, by whose number the answer is found', async () => {
  const { log, written } = recordLog()
  const service = await startAuthService({
    log,
    mail: { isRemote: false, send: (to) => Promise.reject(new Error(`550 <${to}>: the mailbox is full`)) },
  })
  onTestFinished(() => service.close())
  const answer = await service.post('/signup', { email: 'unlucky@example.test', password: PASSWORD })
  expect(answer.status).toBe(500)
  const { error_id: errorId } = z.object({ error_id: z.uuid() }).parse(await answer.json())
  const lines = written().trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>) // prettier-ignore
  expect(lines).toMatchObject([
    { level: 50, msg: 'an auth request failed', errorId, path: '/auth/v1/signup' },
    { level: 30, msg: 'an account was used', action: 'POST /signup', status: 500, refused: 'unexpected_failure' },
  ])
  expect(written()).toContain('550 <u…@example.test>: the mailbox is full')
  for (const secret of [PASSWORD, 'unlucky']) expect(written()).not.toContain(secret)
})
