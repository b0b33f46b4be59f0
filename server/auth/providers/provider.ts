export interface Profile {
  /** Stable id of the person. */
  readonly subject: string
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  readonly details: Readonly<Record<string, string>>
}

export interface ProviderResult {
  readonly profile: Profile
  /** For clients that call the provider's API. */
  readonly accessToken: string
  readonly refreshToken: string | undefined
}

export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Provider {
  readonly name: string
  readonly label: string
  /** `scopes` are additional to those of a sign-in. */
  authorizationUrl(secrets: SignInSecrets, scopes: readonly string[]): Promise<URL>
  /** Exchanges the callback's code. @throws if the provider rejects it, times out, or answers for another sign-in. */
  finish(callback: URL, secrets: SignInSecrets): Promise<ProviderResult>
  /** Undefined if it issues none. @throws OAuthError for a wrong issuer, audience or nonce, or an expired token. */
  readonly readIdToken?: (given: IdTokenGrant) => Promise<Profile>
}

export interface IdTokenGrant {
  readonly idToken: string
  readonly accessToken: string
  readonly nonce: string
}

export type ProviderProtocol =
  | { readonly kind: 'openid'; readonly issuer: string }
  | { readonly kind: 'github'; readonly siteUrl: string; readonly apiUrl: string }

export type ProviderSettings = ProviderProtocol & {
  readonly name: string
  readonly label: string
  /** The first is used for our sign-ins; ID tokens for the others are accepted too. */
  readonly clientIds: readonly [string, ...string[]]
  readonly clientSecret: string | undefined
}
