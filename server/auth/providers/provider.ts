/** Interface of sign-in providers. */

export interface Profile {
  /** The provider's stable id of the person. */
  readonly subject: string
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  /** Further data for the account. */
  readonly details: Readonly<Record<string, string>>
}

export interface ProviderResult {
  readonly profile: Profile
  /** For clients that call the API of the provider. */
  readonly accessToken: string
  readonly refreshToken: string | undefined
}

/** Secrets of one sign-in. */
export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Provider {
  readonly name: string
  readonly label: string
  /** @param scopes additional to those of a sign-in. */
  authorizationUrl(secrets: SignInSecrets, scopes: readonly string[]): Promise<URL>
  /**
   * Exchanges the code in the callback address.
   * @throws where the provider refuses it, does not answer in time, or its answer is not meant for this sign-in.
   */
  finish(callback: URL, secrets: SignInSecrets): Promise<ProviderResult>
  /**
   * Checks an ID token that a program got from the provider by itself; undefined where the provider issues none.
   * @throws OAuthError where it is not from this provider, not for us, expired, or its nonce is another one.
   */
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
  /** The first is for our sign-ins; ID tokens for the others are accepted too. */
  readonly clientIds: readonly [string, ...string[]]
  readonly clientSecret: string | undefined
}
