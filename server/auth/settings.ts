/** What the service is and offers: /health, /settings, the public keys, and the offers of the protocol it declines. */
import { Hono } from 'hono'
import { PRODUCT_NAME } from '#contract/limits.ts'
import { AuthError } from './errors.ts'
import { type AuthService } from './service.ts'

export function settingsRoutes({ tokens, settings }: AuthService): Hono {
  const app = new Hono()

  app.get('/health', (context) =>
    context.json({ name: PRODUCT_NAME, version: 'v1', description: `The auth service of ${PRODUCT_NAME}` }),
  )

  app.get('/settings', (context) =>
    context.json({
      external: { email: true, phone: false, anonymous_users: settings.anonymous },
      disable_signup: settings.signup !== 'open',
      mailer_autoconfirm: settings.autoconfirm,
      phone_autoconfirm: false,
      sms_provider: '',
      saml_enabled: false,
      passkeys_enabled: false,
    }),
  )

  app.get('/.well-known/jwks.json', (context) => {
    context.header('cache-control', 'public, max-age=600')
    return context.json(tokens.jwks)
  })

  app.get('/authorize', (context) => {
    throw new AuthError('validation_failed', `Unsupported provider: ${context.req.query('provider') ?? ''}`)
  })
  app.post('/sso', () => {
    throw new AuthError('saml_provider_disabled', 'SAML 2.0 is disabled')
  })
  return app
}
