import type { Plugin } from 'vite'

/**
 * The parts of auth-js for ways to sign in that the service does not offer. Its one class makes bundlers include them:
 * passkeys alone are a sixth of it.
 */
const UNUSED: Readonly<Record<string, readonly string[]>> = {
  './lib/webauthn': [
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
  ],
  './lib/web3/ethereum': ['createSiweMessage', 'fromHex', 'getAddress', 'toHex'].map(
    (name) => `export const ${name} = refuse`,
  ),
}
const REFUSE = 'const refuse = () => { throw new Error("This way to sign in is not offered.") }'

const PREFIX = '\0auth-js-without:'

export function smallerAuth(): Plugin {
  return {
    name: 'smaller-auth',
    apply: 'build',
    enforce: 'pre',
    resolveId(source, importer) {
      const isTheirs = Object.hasOwn(UNUSED, source) && importer?.includes('/@supabase/auth-js/') === true
      return isTheirs ? PREFIX + source : undefined
    },
    load(id) {
      const exports = id.startsWith(PREFIX) ? UNUSED[id.slice(PREFIX.length)] : undefined
      return exports && [REFUSE, ...exports].join('\n')
    },
  }
}
