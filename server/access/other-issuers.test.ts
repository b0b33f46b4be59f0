import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { createTestTokens } from '#test/realtime.ts'
import { acceptProject, acceptSharedSecret } from './other-issuers.ts'

const SECRET = 'a secret that another program signs with'
const person = { role: 'authenticated', sub: '0b54b2a6-7d0b-4f7c-9b4d-6f1f6e7f2a11' }

/** A session of the other issuer, which this database does not know. */
const SESSION = '4b6cf0f2-3f0e-4a43-9d27-5e0f6ad5a6e1'

const signedWith = (secret: string, claims: Record<string, unknown> = person) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret))

async function startProject() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }]
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const down = () => new Promise((resolve) => server.close(resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const sign = (issuer = `${url}/auth/v1`) =>
    new SignJWT({ ...person, session_id: SESSION })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(issuer)
      .setExpirationTime('1h')
      .sign(privateKey)
  return { url, sign, down }
}

test('accepts tokens signed with the shared secret as well as our own', async () => {
  const own = await createTestTokens()
  const tokens = acceptSharedSecret(own, SECRET)
  const accepted = await tokens.verify(await signedWith(SECRET, { ...person, session_id: SESSION }))
  expect(accepted).toMatchObject(person)
  expect(accepted).not.toHaveProperty('session_id')
  expect(await tokens.verify(own.serviceRoleKey)).toMatchObject({ role: 'service_role' })
})

test('rejects another secret, an unknown role and a token without expiry', async () => {
  const tokens = acceptSharedSecret(await createTestTokens(), SECRET)
  const endless = await new SignJWT(person).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET))
  const refused = [await signedWith('another secret of the same good length'), await signedWith(SECRET, { ...person, role: 'postgres' }), endless, 'x.y.z'] // prettier-ignore
  for (const token of refused) await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthenticated' })
})

test('without a secret, rejects every symmetric token, our public key as the secret included', async () => {
  const own = await createTestTokens()
  expect(acceptSharedSecret(own, undefined)).toBe(own)
  await expect(own.verify(await signedWith(SECRET))).rejects.toMatchObject({ code: 'unauthenticated' })
  await expect(own.verify(await signedWith(JSON.stringify(own.jwks.keys[0])))).rejects.toMatchObject({
    code: 'unauthenticated',
  })
})

test('accepts tokens of a project by its published keys, and of no other issuer', async () => {
  const project = await startProject()
  const tokens = acceptProject(project.url)
  const accepted = await tokens.verify(await project.sign())
  expect(accepted).toMatchObject(person)
  expect(accepted).not.toHaveProperty('session_id')
  const own = await createTestTokens()
  for (const token of [await project.sign('https://elsewhere.example/auth/v1'), own.serviceRoleKey])
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthenticated' })
})

test('does not call a token invalid while the keys of the project cannot be fetched', async () => {
  const project = await startProject()
  const token = await project.sign()
  await project.down()
  await expect(acceptProject(project.url).verify(token)).rejects.toMatchObject({ code: 'unavailable' })
})
