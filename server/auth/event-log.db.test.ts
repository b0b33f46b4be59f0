import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { PASSWORD, startAuthService } from '#test/auth-service.ts'

test('each use of an account is one line, refused or not, without what is secret', async () => {
  let written = ''
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString()
      done()
    },
  })
  const service = await startAuthService({ log: pino({ base: null, timestamp: false }, sink) })
  onTestFinished(() => service.close())
  const { client, session, user } = await service.signedIn('watched@example.test')
  await service
    .newClient('203.0.113.7')
    .auth.signInWithPassword({ email: 'watched@example.test', password: 'wrong one' })
  const { data: enrolled } = await client.auth.mfa.enroll({ factorType: 'totp' })
  await client.auth.mfa.unenroll({ factorId: enrolled?.id ?? '' })
  await client.auth.updateUser({ password: `${PASSWORD}, changed` })
  await client.auth.refreshSession()
  await client.auth.getUser()
  await client.auth.signOut()

  const events = written
    .split('\n')
    .filter((line) => line.includes('an account was used'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const told = events.map(({ action, grant, user: who, status, refused }) => [action, grant, who, status, refused])
  expect(told).toEqual([
    ['POST /signup', undefined, undefined, 200, undefined],
    ['GET /verify', undefined, user.id, 303, undefined],
    ['POST /token', 'password', user.id, 200, undefined],
    ['POST /token', 'password', undefined, 400, 'invalid_credentials'],
    ['POST /factors', undefined, user.id, 200, undefined],
    [`DELETE /factors/${enrolled?.id ?? ''}`, undefined, user.id, 200, undefined],
    ['PUT /user', undefined, user.id, 200, undefined],
    ['POST /token', 'refresh_token', user.id, 200, undefined],
    ['POST /logout', undefined, user.id, 204, undefined],
  ])
  expect(events[3]?.['address']).toBe('203.0.113.7')
  for (const secret of [PASSWORD, 'wrong one', session.access_token, session.refresh_token, 'watched@example.test'])
    expect(JSON.stringify(events)).not.toContain(secret)
})
