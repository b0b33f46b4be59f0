import { loadConfig } from '#web/data/config.ts'
import { ownAddress } from '#web/data/base-path.ts'
import { rememberProvider } from './provider-label.ts'
import { authClient } from './session.ts'

/** `ssoId` is set for a company's SAML provider. */
export type IdentityProvider = { name: string; label: string; ssoId?: string }

const OTHER_SIGN_IN_METHODS = new Set(['email', 'phone', 'anonymous_users'])

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

/** Parsed by hand to keep a schema library out of the sign-in page. */
function parseProviders(settings: unknown): IdentityProvider[] {
  const members = new Map(entriesOf(settings))
  const labels = new Map(entriesOf(members.get('external_labels')))
  const named = entriesOf(members.get('external'))
    .filter(([name, isOn]) => isOn === true && !OTHER_SIGN_IN_METHODS.has(name))
    .map(([name]) => {
      const label = labels.get(name)
      return { name, label: typeof label === 'string' ? label : name }
    })
  const ofCompanies = entriesOf(members.get('sso_labels')).map(([id, label]) => ({
    name: `sso:${id}`,
    label: String(label),
    ssoId: id,
  }))
  return [...named, ...ofCompanies]
}

export async function loadIdentityProviders(): Promise<IdentityProvider[]> {
  const { supabaseUrl, supabaseAnonKey } = await loadConfig()
  const response = await fetch(`${supabaseUrl}/auth/v1/settings`, { headers: { apikey: supabaseAnonKey } })
  if (!response.ok) throw new Error(`${response.status}: ${response.statusText}`)
  return parseProviders(await response.json())
}

/** The client's type lists only the providers of a hosted project; any name is valid. */
const credentialsFor = ({ name }: IdentityProvider) => ({
  provider: name as 'google',
  options: { redirectTo: ownAddress('/') },
})

export async function signInWithProvider(provider: IdentityProvider): Promise<void> {
  const auth = await authClient()
  const { ssoId } = provider
  rememberProvider(provider.label)
  const { error } = await (ssoId === undefined
    ? auth.signInWithOAuth(credentialsFor(provider))
    : auth.signInWithSSO({ providerId: ssoId, options: { redirectTo: ownAddress('/') } }))
  if (error !== null) throw error
}

export async function linkIdentity(provider: IdentityProvider): Promise<void> {
  rememberProvider(provider.label)
  const { error } = await (await authClient()).linkIdentity(credentialsFor(provider))
  if (error !== null) throw error
}
