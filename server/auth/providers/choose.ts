import { AuthError } from '#server/auth/errors.ts'
import { createGitHubProvider } from './github.ts'
import { createOpenIdProvider } from './openid.ts'
import { type Provider, type ProviderSettings } from './provider.ts'

export type Providers = ReadonlyMap<string, Provider>

/** The providers that the operator has set up, by the names that clients ask for. */
export function createProviders(settings: readonly ProviderSettings[], redirectUri: () => string): Providers {
  const providers = settings.map((given) =>
    given.kind === 'github' ? createGitHubProvider(given, redirectUri) : createOpenIdProvider(given, redirectUri),
  )
  return new Map(providers.map((provider) => [provider.name, provider]))
}

/** @throws AuthError `validation_failed` */
export function requireProvider(providers: Providers, name: string): Provider {
  const provider = providers.get(name)
  if (provider === undefined) throw new AuthError('validation_failed', `Unsupported provider: ${name}`)
  return provider
}
