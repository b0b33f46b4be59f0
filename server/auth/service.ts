import { hkdfSync } from 'node:crypto'
import { type Tokens } from '#server/access/tokens.ts'
import { type Log } from '#server/base/log.ts'
import { type Database } from '#server/database/scope.ts'
import { type Mail } from './mail/send.ts'
import { type PasswordRules } from './passwords.ts'
import { createProviders, type Providers } from './providers/choose.ts'
import { type ProviderSettings } from './providers/provider.ts'
import { type SmsWebhook } from './sms.ts'
import { type SamlProviderSettings } from './saml/provider.ts'

/** Plain values of the configuration. `siteUrl` may be a getter: with port 0 it is known only once the server listens. */
export interface AuthSettings extends PasswordRules {
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
  /** Where else people may have their account to sign in with. */
  readonly providers: readonly ProviderSettings[]
  /** Whose people sign in at their company's identity provider. */
  readonly samlProviders: readonly SamlProviderSettings[]
  /** What sends text messages; undefined where phones are no second factors. */
  readonly smsWebhook: SmsWebhook | undefined
  /** After how many days a session ends, however often it was refreshed; 0 for never. */
  readonly sessionDays: number
  /** After how many days without a refresh a session is over; 0 for no end. */
  readonly sessionIdleDays: number
  readonly mailIntervalS: number
  readonly rateLimits: 'on' | 'off'
  /** How many proxies in front are believed about the visitor's address. */
  readonly trustProxy: number
  readonly secureCookies: boolean
}

/** What is kept of a person beyond the rows that go with the account: counted before these are removed, removed after. */
export type AccountClosing = (userId: string) => Promise<{
  readonly counts: Readonly<Record<string, number>>
  finish(): Promise<void>
}>

export interface AuthDependencies {
  readonly database: Database
  readonly tokens: Tokens
  readonly mail: Mail
  readonly settings: AuthSettings
  readonly log: Log
  /** At least 32 random bytes of this installation, the same on every node. */
  readonly refreshKey: Buffer
  /** Asked before a person's rows are removed; undefined where nothing but rows is kept of people. */
  readonly onAccountClosing?: AccountClosing | undefined
}

/** What every flow works with. */
export interface AuthService extends Omit<AuthDependencies, 'refreshKey'> {
  readonly providers: Providers
  readonly keys: {
    readonly refresh: Buffer
    readonly codes: Buffer
    readonly factors: Buffer
    readonly recovery: Buffer
    readonly signIns: Buffer
  }
}

const deriveKey = (key: Buffer, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', purpose, 32))

export function createAuthService({ refreshKey, ...rest }: AuthDependencies): AuthService {
  return {
    ...rest,
    providers: createProviders(rest.settings.providers, () => `${rest.settings.siteUrl}/auth/v1/callback`),
    keys: {
      refresh: deriveKey(refreshKey, 'refresh tokens'),
      codes: deriveKey(refreshKey, 'one-time codes'),
      factors: deriveKey(refreshKey, 'second factors'),
      recovery: deriveKey(refreshKey, 'recovery codes'),
      signIns: deriveKey(refreshKey, 'sign-ins at providers'),
    },
  }
}
