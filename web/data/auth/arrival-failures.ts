/** Sentences about a link or a provider that did not sign in. The address only names a code: its own words could be anybody's. */
import { providerLabel } from './provider-label.ts'

const FAILURES: Readonly<Record<string, string>> = {
  bad_oauth_callback: 'The provider did not sign you in. Try again.',
  bad_oauth_state: 'This sign-in took too long or was begun in another browser. Try again.',
  email_exists:
    'This email address already has an account, or a sign-up or another change waits for it. Nothing was changed.',
  identity_already_exists: 'This sign-in already belongs to an account.',
  otp_expired: 'Email link is invalid or has expired',
  over_request_rate_limit: 'Request rate limit reached',
  saml_assertion_no_email: 'SAML Assertion does not contain an email address',
  saml_assertion_no_user_id: 'SAML Assertion does not contain a user id',
  saml_relay_state_not_found: 'This sign-in was begun in another browser, try logging in again?',
  session_open: 'You are signed in. Sign out first: the page then asks whether to continue with the link.',
  signup_disabled: 'Signups not allowed for this instance',
  user_banned: 'User is banned',
  user_sso_managed: 'A SSO account is only signed in to via SSO',
  // The link was followed, so that an address is confirmed, but its code belongs to another browser.
  other_browser:
    'This link was asked for in another browser. If it was to confirm your address, that is done: sign in here, or use “Forgot your password?” if your password is not accepted. To sign in without a password, enter the code of the mail where you asked for it.',
}

const UNKNOWN = 'Signing in did not work. Try again, or ask for a new link.'

export function describeFailure(code: string): string {
  if (code === 'provider_email_needs_verification') {
    return `${providerLabel() ?? 'The provider'} does not vouch for an e-mail address of yours. Verify it there, then sign in again.`
  }
  return Object.hasOwn(FAILURES, code) ? (FAILURES[code] ?? UNKNOWN) : UNKNOWN
}
