import { createHash } from 'node:crypto'
import { exportSPKI, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, startAuthService } from '#test/auth-service.ts'
import { type IdentityProvider, startIdentityProvider } from '#test/identity-provider.ts'

let idp: IdentityProvider
let service: AuthTestService
beforeAll(async () => {
  idp = await startIdentityProvider()
  service = await startAuthService({ providers: idp.providers })
})
afterAll(async () => {
  await service.close()
  await idp.close()
})

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')
const signIn = (token: string, more: { nonce?: string; access_token?: string; provider?: string } = {}) =>
  service.newClient().auth.signInWithIdToken({ provider: 'oidc', token, ...more })
const claims = (subject: string, more: JWTPayload = {}) => ({
  ...idp.claimsOf({ subject, email: `${subject}@example.test` }),
  ...more,
})

test('an ID token of the provider opens a session, for each program that it may be made for', async () => {
  const { data, error } = await signIn(await idp.signIdToken(claims('phone-1')))
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email: 'phone-1@example.test', app_metadata: { provider: 'oidc' } })
  const other = await signIn(await idp.signIdToken(claims('phone-1', { aud: 'alcove-phone' })))
  expect(other.data.user?.id).toBe(data.user?.id)
})

test('the nonce of the program must be the one in the token, and neither may stand alone', async () => {
  const token = await idp.signIdToken(claims('nonce-1', { nonce: digestOf('mine') }))
  expect((await signIn(token, { nonce: 'mine' })).error).toBeNull()
  expect((await signIn(token, { nonce: 'yours' })).error).toMatchObject({ status: 400, message: 'Nonces mismatch' })
  const alone = 'Passed nonce and nonce in id_token should either both exist or not.'
  expect((await signIn(token)).error).toMatchObject({ status: 400, message: alone })
  const without = await idp.signIdToken(claims('nonce-1'))
  expect((await signIn(without, { nonce: 'mine' })).error).toMatchObject({ message: alone })
})

test('an access token that comes along must be the one that the ID token names', async () => {
  const hash = createHash('sha256').update('mine').digest().subarray(0, 16).toString('base64url')
  const token = await idp.signIdToken(claims('hash-1', { at_hash: hash }))
  expect((await signIn(token, { access_token: 'mine' })).error).toBeNull()
  expect((await signIn(token, { access_token: 'another' })).error).toMatchObject({ status: 400 })
})

test('no token opens anything that is forged, for somebody else, expired or of no provider of ours', async () => {
  const { privateKey } = await generateKeyPair('ES256')
  const bad = 'Bad ID token'
  const { keys } = (await (await fetch(`${idp.origin}/keys`)).json()) as { keys: [JWK] }
  const published = await importJWK(keys[0], 'ES256', { extractable: true })
  if (published instanceof Uint8Array) throw new Error('The provider publishes a secret.')
  const bySharedSecret = (secret: string) =>
    new SignJWT(claims('bad-1', { iss: idp.origin, aud: idp.clientId }))
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .setIssuedAt()
      .setExpirationTime('5 minutes')
      .sign(new TextEncoder().encode(secret))
  for (const [token, message] of [
    [await idp.signIdToken(claims('bad-1'), privateKey), bad],
    [await idp.signIdToken(claims('bad-1', { iss: 'https://evil.test' })), bad],
    [await idp.signIdToken(claims('bad-1'), undefined, '10 minutes ago'), bad],
    [await bySharedSecret(await exportSPKI(published)), bad],
    [await bySharedSecret(idp.clientSecret), bad],
    ['eyJhbGciOiJub25lIn0.e30.', bad],
    ['nonsense', bad],
    [await idp.signIdToken(claims('bad-1', { aud: 'evil' })), 'Unacceptable audience in id_token: [evil]'],
  ] as const) {
    expect((await signIn(token)).error).toMatchObject({ status: 400, message })
  }
  const { error } = await signIn(await idp.signIdToken(claims('bad-1')), { provider: 'google' })
  expect(error).toMatchObject({ status: 400, code: 'provider_disabled' })
  expect(error?.message).toBe(`Provider (issuer "${idp.origin}") is not enabled`)
  const known = await service.admin.query(`select from auth.identities where provider_id = 'bad-1'`)
  expect(known.rowCount).toBe(0)
})

test("an address that the provider does not vouch for opens nobody's account", async () => {
  await service.signedIn('held@example.test')
  const token = await idp.signIdToken(
    idp.claimsOf({ subject: 'x', email: 'held@example.test', isEmailVerified: false }),
  )
  expect((await signIn(token)).error).toMatchObject({ code: 'provider_email_needs_verification' })
})
