/** GET /health, /settings and the public keys. */
import { Hono } from 'hono'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import type { AuthService } from './service.ts'

export function settingsRoutes({ tokens, settings, providers }: AuthService): Hono {
  const app = new Hono()

  app.get('/health', (context) =>
    context.json({ name: PRODUCT_NAME, version: 'v1', description: `The auth service of ${PRODUCT_NAME}` }),
  )

  app.get('/settings', (context) =>
    context.json({
      external: {
        email: true,
        phone: false,
        anonymous_users: settings.anonymous,
        ...Object.fromEntries(Array.from(providers.keys(), (name) => [name, true])),
      },
      external_labels: Object.fromEntries(Array.from(providers.values(), ({ name, label }) => [name, label])),
      disable_signup: settings.signup !== 'open',
      mailer_autoconfirm: settings.autoconfirm,
      phone_autoconfirm: false,
      sms_provider: '',
      saml_enabled: settings.samlProviders.length > 0,
      sso_labels: Object.fromEntries(
        settings.samlProviders.flatMap(({ id, label }) => (label === undefined ? [] : [[id, label]])),
      ),
      passkeys_enabled: false,
    }),
  )

  app.get('/.well-known/jwks.json', (context) => {
    context.header('cache-control', 'public, max-age=600')
    return context.json(tokens.jwks)
  })
  return app
}
