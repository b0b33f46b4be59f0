/** A new provider is one row here, and a file if its protocol is new. */
import { AuthError } from '#server/auth/errors.ts'
import { createGitHubProvider } from './github.ts'
import { createOpenIdProvider } from './openid.ts'
import type { Provider, ProviderProtocol, ProviderSettings } from './provider.ts'

export interface ProviderEnvironment {
  readonly AUTH_GOOGLE_CLIENT_ID?: string | undefined
  readonly AUTH_GOOGLE_CLIENT_SECRET?: string | undefined
  readonly AUTH_GITHUB_CLIENT_ID?: string | undefined
  readonly AUTH_GITHUB_CLIENT_SECRET?: string | undefined
  readonly AUTH_OIDC_CLIENT_ID?: string | undefined
  readonly AUTH_OIDC_CLIENT_SECRET?: string | undefined
  readonly AUTH_OIDC_ISSUER?: string | undefined
  readonly AUTH_OIDC_NAME: string
  readonly AUTH_OIDC_LABEL: string
}

interface Row {
  readonly name: (environment: ProviderEnvironment) => string
  readonly label: (environment: ProviderEnvironment) => string
  /** Without a client id the provider is not offered. */
  readonly clientId: keyof ProviderEnvironment
  readonly clientSecret: keyof ProviderEnvironment
  /** Undefined if a required setting is missing. */
  readonly protocol: (environment: ProviderEnvironment) => ProviderProtocol | undefined
}

/** In the order of the page's buttons. */
const SIGN_IN_PROVIDERS: readonly Row[] = [
  {
    name: () => 'google',
    label: () => 'Google',
    clientId: 'AUTH_GOOGLE_CLIENT_ID',
    clientSecret: 'AUTH_GOOGLE_CLIENT_SECRET',
    protocol: () => ({ kind: 'openid', issuer: 'https://accounts.google.com' }),
  },
  {
    name: () => 'github',
    label: () => 'GitHub',
    clientId: 'AUTH_GITHUB_CLIENT_ID',
    clientSecret: 'AUTH_GITHUB_CLIENT_SECRET',
    protocol: () => ({ kind: 'github', siteUrl: 'https://github.com', apiUrl: 'https://api.github.com' }),
  },
  {
    name: ({ AUTH_OIDC_NAME: name }) => name,
    label: ({ AUTH_OIDC_LABEL: label }) => label,
    clientId: 'AUTH_OIDC_CLIENT_ID',
    clientSecret: 'AUTH_OIDC_CLIENT_SECRET',
    protocol: ({ AUTH_OIDC_ISSUER: issuer }) => (issuer === undefined ? undefined : { kind: 'openid', issuer }),
  },
]

/** A client id may be a comma-separated list. */
export function readProviderSettings(environment: ProviderEnvironment): ProviderSettings[] {
  return SIGN_IN_PROVIDERS.flatMap(({ name, label, clientId, clientSecret, protocol }) => {
    const [first, ...others] = (environment[clientId] ?? '').split(',').map((id) => id.trim())
    const configured = protocol(environment)
    if (!first || configured === undefined) return []
    return [
      {
        ...configured,
        name: name(environment),
        label: label(environment),
        clientIds: [first, ...others] as const,
        clientSecret: environment[clientSecret],
      },
    ]
  })
}

/** Keys are names of providers. */
export type Providers = ReadonlyMap<string, Provider>

const createProvider = (settings: ProviderSettings, redirectUri: () => string): Provider =>
  settings.kind === 'github' ? createGitHubProvider(settings, redirectUri) : createOpenIdProvider(settings, redirectUri)

export const createProviders = (settings: readonly ProviderSettings[], redirectUri: () => string): Providers =>
  new Map(settings.map((provider) => [provider.name, createProvider(provider, redirectUri)]))

/** @throws AuthError `validation_failed` */
export function requireProvider(providers: Providers, name: string): Provider {
  const provider = providers.get(name)
  if (provider === undefined) throw new AuthError('validation_failed', `Unsupported provider: ${name}`)
  return provider
}
