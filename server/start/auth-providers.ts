import { type ProviderSettings } from '#server/auth/providers/provider.ts'
import { type Config } from '#server/config.ts'

/** Where else people may have their account to sign in with, as the settings say it; in the order of the page's buttons. */
export function readProviders(config: Config): ProviderSettings[] {
  const idsOf = (text: string | undefined): [string, ...string[]] | undefined => {
    const [first, ...others] = (text ?? '').split(',').map((id) => id.trim())
    return first ? [first, ...others] : undefined
  }
  const google = idsOf(config.AUTH_GOOGLE_CLIENT_ID)
  const github = idsOf(config.AUTH_GITHUB_CLIENT_ID)
  const oidc = idsOf(config.AUTH_OIDC_CLIENT_ID)
  return [
    google && {
      kind: 'openid' as const,
      name: 'google',
      label: 'Google',
      issuer: 'https://accounts.google.com',
      clientIds: google,
      clientSecret: config.AUTH_GOOGLE_CLIENT_SECRET,
    },
    github && {
      kind: 'github' as const,
      name: 'github',
      label: 'GitHub',
      siteUrl: 'https://github.com',
      apiUrl: 'https://api.github.com',
      clientIds: github,
      clientSecret: config.AUTH_GITHUB_CLIENT_SECRET,
    },
    oidc &&
      config.AUTH_OIDC_ISSUER !== undefined && {
        kind: 'openid' as const,
        name: config.AUTH_OIDC_NAME,
        label: config.AUTH_OIDC_LABEL,
        issuer: config.AUTH_OIDC_ISSUER,
        clientIds: oidc,
        clientSecret: config.AUTH_OIDC_CLIENT_SECRET,
      },
  ].filter((provider) => typeof provider === 'object')
}
