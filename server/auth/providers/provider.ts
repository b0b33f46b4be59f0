/** What the flows need of a provider: where to send somebody, and whom it says came back. */

/** A person as a provider describes them. */
export interface Profile {
  /** The provider's own name for them, which never changes. */
  readonly subject: string
  readonly email: string | undefined
  /** Whether the provider vouches that the address is theirs. */
  readonly isEmailVerified: boolean
  /** What else it says, as far as accounts show it. */
  readonly details: Readonly<Record<string, string>>
}

export interface Arrival {
  readonly profile: Profile
  /** For programs that go on to ask the provider something. */
  readonly accessToken: string
  readonly refreshToken: string | undefined
}

/** The secrets of one sign-in, known to us alone until it comes back. */
export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Provider {
  readonly name: string
  readonly label: string
  /** @param scopes asked for beside those that a sign-in needs. */
  authorizationUrl(secrets: SignInSecrets, scopes: readonly string[]): Promise<URL>
  /**
   * Exchanges the code in the address that the provider sent somebody back to.
   * @throws where the provider refuses it, does not answer in time, or its answer is not meant for this sign-in.
   */
  finish(callback: URL, secrets: SignInSecrets): Promise<Arrival>
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

/** Plain values of the configuration. */
export type ProviderSettings = {
  readonly name: string
  readonly label: string
  /** The first is ours; ID tokens made for the others are accepted as well. */
  readonly clientIds: readonly [string, ...string[]]
  readonly clientSecret: string | undefined
} & (
  | { readonly kind: 'openid'; readonly issuer: string }
  | { readonly kind: 'github'; readonly siteUrl: string; readonly apiUrl: string }
)
