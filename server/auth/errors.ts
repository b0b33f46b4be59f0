/** Errors with GoTrue's codes, some of which clients know by name, and their usual statuses. */
export const AUTH_ERROR_STATUS = {
  anonymous_provider_disabled: 422,
  bad_json: 400,
  bad_code_verifier: 400,
  bad_jwt: 403,
  bad_oauth_callback: 400,
  bad_oauth_state: 400,
  email_exists: 422,
  email_not_confirmed: 400,
  email_provider_disabled: 422,
  flow_state_expired: 422,
  flow_state_not_found: 404,
  insufficient_aal: 403,
  identity_already_exists: 422,
  identity_not_found: 422,
  invalid_credentials: 400,
  manual_linking_disabled: 404,
  mfa_challenge_expired: 422,
  mfa_factor_name_conflict: 422,
  mfa_factor_not_found: 404,
  mfa_ip_address_mismatch: 422,
  mfa_phone_enroll_not_enabled: 422,
  mfa_phone_verify_not_enabled: 422,
  mfa_verified_factor_exists: 422,
  mfa_verification_failed: 422,
  mfa_webauthn_enroll_not_enabled: 422,
  no_authorization: 401,
  not_admin: 403,
  not_found: 404,
  otp_expired: 403,
  over_email_send_rate_limit: 429,
  over_request_rate_limit: 429,
  over_sms_send_rate_limit: 429,
  phone_exists: 422,
  phone_provider_disabled: 400,
  provider_disabled: 400,
  provider_email_needs_verification: 422,
  reauthentication_needed: 400,
  reauthentication_not_valid: 422,
  refresh_token_already_used: 400,
  refresh_token_not_found: 400,
  request_entity_too_large: 413,
  request_timeout: 504,
  same_password: 422,
  saml_assertion_no_email: 400,
  saml_assertion_no_user_id: 400,
  saml_provider_disabled: 404,
  saml_relay_state_not_found: 404,
  session_expired: 400,
  session_not_found: 403,
  signup_disabled: 422,
  sms_send_failed: 422,
  sso_provider_not_found: 404,
  too_many_enrolled_mfa_factors: 422,
  unexpected_failure: 500,
  single_identity_not_deletable: 422,
  user_already_exists: 422,
  user_banned: 403,
  user_not_found: 403,
  user_sso_managed: 422,
  validation_failed: 400,
  weak_password: 422,
} as const

export type AuthErrorCode = keyof typeof AUTH_ERROR_STATUS
export type AuthErrorStatus = (typeof AUTH_ERROR_STATUS)[AuthErrorCode]

interface AuthErrorOptions {
  readonly status?: AuthErrorStatus
  readonly cause?: unknown
  /** For example `weak_password`. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly retryAfterS?: number
}

export class AuthError extends Error {
  readonly code: AuthErrorCode
  readonly status: AuthErrorStatus
  readonly body: Readonly<Record<string, unknown>>
  readonly retryAfterS: number | undefined

  constructor(code: AuthErrorCode, message: string, { status, cause, body = {}, retryAfterS }: AuthErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'AuthError'
    this.code = code
    this.status = status ?? AUTH_ERROR_STATUS[code]
    this.body = body
    this.retryAfterS = retryAfterS
  }
}

/** OAuth format, which the protocol uses for a refresh without a token and for ID tokens. */
export class OAuthError extends Error {
  readonly code: string

  constructor(code: string, message: string, { cause }: { cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'OAuthError'
    this.code = code
  }
}
