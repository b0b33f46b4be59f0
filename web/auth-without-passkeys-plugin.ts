import type { Plugin } from 'vite'

/** Passkeys, which the service does not offer, are a sixth of auth-js; its one class makes bundlers include them. */
const PASSKEYS = './lib/webauthn'
const REFUSALS = [
  'const refuse = () => { throw new Error("Passkeys are not offered.") }',
  'export class WebAuthnApi { enroll = refuse; challenge = refuse; verify = refuse; authenticate = refuse; register = refuse }',
  'export const webAuthnAbortService = { createNewAbortSignal: refuse, cancelCeremony() {} }',
  'export const browserSupportsWebAuthn = () => false',
  ...[
    'createCredential',
    'getCredential',
    'deserializeCredentialCreationOptions',
    'deserializeCredentialRequestOptions',
    'serializeCredentialCreationResponse',
    'serializeCredentialRequestResponse',
  ].map((name) => `export const ${name} = refuse`),
].join('\n')

const IN_THEIR_PLACE = '\0auth-js-without-passkeys'

export function authWithoutPasskeys(): Plugin {
  return {
    name: 'auth-without-passkeys',
    apply: 'build',
    enforce: 'pre',
    resolveId(source, importer) {
      const isTheirs = source === PASSKEYS && importer?.includes('/@supabase/auth-js/') === true
      return isTheirs ? IN_THEIR_PLACE : undefined
    },
    load: (id) => (id === IN_THEIR_PLACE ? REFUSALS : undefined),
  }
}
