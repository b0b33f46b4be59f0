import { hkdfSync } from 'node:crypto'
import { type Tokens } from '#server/access/tokens.ts'
import { type Log } from '#server/base/log.ts'
import { type Database } from '#server/database/scope.ts'
import { type Mail } from './mail/send.ts'

/** Plain values of the configuration. `siteUrl` may be a getter: with port 0 it is known only once the server listens. */
export interface AuthSettings {
  readonly siteUrl: string
  /** Further addresses that mail links may lead to: `https://app.example.com/**`, where `*` stops at "." and "/". */
  readonly redirectAllowList: readonly string[]
  /** Who may create accounts: anybody, whom the operator invites, or the operator alone. */
  readonly signup: 'open' | 'invite' | 'closed'
  readonly autoconfirm: boolean
  /** Whether somebody may have a session without an address. */
  readonly anonymous: boolean
  /** Whether people may take ways of signing in from their account. */
  readonly manualLinking: boolean
  /** Whether a password may be changed in a session older than a day only with a mailed code. */
  readonly passwordNeedsNonce: boolean
  readonly minPasswordLength: number
  readonly mailIntervalS: number
  readonly rateLimits: 'on' | 'off'
  /** How many proxies in front are believed about the visitor's address. */
  readonly trustProxy: number
  readonly secureCookies: boolean
}

export interface AuthDependencies {
  readonly database: Database
  readonly tokens: Tokens
  readonly mail: Mail
  readonly settings: AuthSettings
  readonly log: Log
  /** At least 32 random bytes of this installation, the same on every node. */
  readonly refreshKey: Buffer
}

/** What every flow works with. */
export interface AuthService extends Omit<AuthDependencies, 'refreshKey'> {
  readonly keys: { readonly refresh: Buffer; readonly codes: Buffer; readonly factors: Buffer }
}

const deriveKey = (key: Buffer, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', purpose, 32))

export function createAuthService({ refreshKey, ...rest }: AuthDependencies): AuthService {
  return {
    ...rest,
    keys: {
      refresh: deriveKey(refreshKey, 'refresh tokens'),
      codes: deriveKey(refreshKey, 'one-time codes'),
      factors: deriveKey(refreshKey, 'second factors'),
    },
  }
}
