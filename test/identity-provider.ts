/**
 * An identity provider on loopback that speaks OpenID Connect, and OAuth 2 as GitHub does. The current `person`
 * consents without a prompt.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type { ProviderSettings } from '#server/auth/providers/provider.ts'

const CLIENT_ID = 'alcove-test'
const CLIENT_SECRET = 'known to both'

export interface TestPerson {
  readonly subject: string
  readonly email?: string
  readonly isEmailVerified?: boolean
  readonly name?: string
}

interface Granted {
  readonly person: TestPerson
  readonly redirectUri: string
  readonly challenge: string
  readonly nonce: string | undefined
}

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>

export async function startIdentityProvider() {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
  const codes = new Map<string, Granted>()
  const bearers = new Map<string, TestPerson>()
  const state = {
    person: { subject: 'nobody' } as TestPerson,
    /** Claims that a dishonest issuer would write into its next ID tokens. */
    forged: {} as JWTPayload,
    refusal: undefined as string | undefined,
    tokenRequests: 0,
    issued: [] as string[],
  }
  let origin = ''

  const signIdToken = (claims: JWTPayload, key = privateKey, end = '5 minutes') =>
    new SignJWT({ iss: origin, aud: CLIENT_ID, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuedAt()
      .setExpirationTime(end)
      .sign(key)
  const claimsOf = ({ subject, email, isEmailVerified, name }: TestPerson): JWTPayload => ({
    sub: subject,
    ...(email === undefined ? {} : { email, email_verified: isEmailVerified ?? true }),
    ...(name === undefined ? {} : { name }),
  })

  const app = new Hono()
  app.get('/.well-known/openid-configuration', (context) =>
    context.json({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      jwks_uri: `${origin}/keys`,
      userinfo_endpoint: `${origin}/userinfo`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      code_challenge_methods_supported: ['S256'],
    }),
  )
  app.get('/keys', (context) => context.json({ keys: [jwk] }))

  for (const at of ['/authorize', '/login/oauth/authorize']) {
    app.get(at, (context) => {
      const asked = context.req.query()
      const target = new URL(asked['redirect_uri'] ?? '')
      target.searchParams.set('state', asked['state'] ?? '')
      if (asked['client_id'] !== CLIENT_ID || asked['code_challenge_method'] !== 'S256') return context.text('no', 400)
      if (state.refusal !== undefined) {
        target.searchParams.set('error', 'access_denied')
        target.searchParams.set('error_description', state.refusal)
        return context.redirect(target.href)
      }
      const code = randomUUID()
      codes.set(code, {
        person: state.person,
        redirectUri: asked['redirect_uri'] ?? '',
        challenge: asked['code_challenge'] ?? '',
        nonce: asked['nonce'],
      })
      target.searchParams.set('code', code)
      return context.redirect(target.href)
    })
  }

  for (const at of ['/token', '/login/oauth/access_token']) {
    app.post(at, async (context) => {
      state.tokenRequests += 1
      const form = new URLSearchParams(await context.req.text())
      const granted = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (form.get('client_secret') !== CLIENT_SECRET) return context.json({ error: 'invalid_client' }, 401)
      if (granted?.challenge !== challenge || granted.redirectUri !== form.get('redirect_uri')) {
        return context.json({ error: 'invalid_grant' }, 400)
      }
      const accessToken = randomUUID()
      bearers.set(accessToken, granted.person)
      const refreshToken = randomUUID()
      state.issued.push(accessToken, refreshToken)
      const isOpenId = at === '/token'
      return context.json({
        access_token: accessToken,
        token_type: 'bearer',
        refresh_token: refreshToken,
        ...(isOpenId
          ? { id_token: await signIdToken({ ...claimsOf(granted.person), nonce: granted.nonce, ...state.forged }) }
          : {}),
      })
    })
  }

  const bearerOf = (header: string | undefined) => bearers.get(header?.replace(/^Bearer /, '') ?? '')
  app.get('/userinfo', (context) => {
    const person = bearerOf(context.req.header('authorization'))
    return person === undefined ? context.json({}, 401) : context.json(claimsOf(person))
  })
  app.get('/user', (context) => {
    const person = bearerOf(context.req.header('authorization'))
    return person === undefined
      ? context.json({}, 401)
      : context.json({ id: Number(person.subject), login: person.name ?? 'somebody', name: person.name ?? null })
  })
  app.get('/user/emails', (context) => {
    const { email, isEmailVerified } = bearerOf(context.req.header('authorization')) ?? {}
    const others = [{ email: 'victim@example.test', primary: false, verified: false, visibility: null }]
    return context.json(
      email === undefined
        ? others
        : [...others, { email, primary: true, verified: isEmailVerified ?? true, visibility: 'private' }],
    )
  })

  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const client = { clientIds: [CLIENT_ID, 'alcove-phone'] as [string, ...string[]], clientSecret: CLIENT_SECRET }
  const providers: ProviderSettings[] = [
    { kind: 'openid', name: 'oidc', label: 'Test sign-on', issuer: origin, ...client },
    { kind: 'github', name: 'github', label: 'GitHub', siteUrl: origin, apiUrl: origin, ...client },
  ]
  return {
    origin,
    state,
    providers,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    signIdToken,
    claimsOf,
    async close() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
