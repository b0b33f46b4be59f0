import { hkdfSync } from 'node:crypto'
import type { Tokens } from '#server/access/tokens.ts'
import type { Log } from '#server/base/log.ts'
import { createSemaphore } from '#server/base/semaphore.ts'
import type { Database } from '#server/database/scope.ts'
import type { Mail } from './mail/send.ts'
import type { PasswordRules } from './passwords.ts'
import { createProviders, type Providers } from './providers/registry.ts'
import type { ProviderSettings } from './providers/provider.ts'
import type { SmsWebhook } from './sms.ts'
import type { SamlProviderSettings } from './saml/provider.ts'

/** `siteUrl` may be a getter: with port 0 it is known only once the server listens. */
export interface AuthSettings extends PasswordRules {
  readonly siteUrl: string
  /** Further targets of mail links, for example `https://app.example.com/**`; `*` stops at "." and "/". */
  readonly redirectAllowList: readonly string[]
  readonly signup: 'open' | 'invite' | 'closed'
  readonly autoconfirm: boolean
  /** Whether the answer to a sign-up shows that the address has an account, as GoTrue's does. */
  readonly signupRevealsAccounts: boolean
  readonly anonymous: boolean
  /** Whether people may link and unlink providers. */
  readonly manualLinking: boolean
  /** Whether a password change in a session older than a day requires a mailed code. */
  readonly passwordNeedsNonce: boolean
  readonly providers: readonly ProviderSettings[]
  readonly samlProviders: readonly SamlProviderSettings[]
  /** Undefined if phones are not offered as second factors. */
  readonly smsWebhook: SmsWebhook | undefined
  /** 0 for no limit. */
  readonly sessionDays: number
  /** Days without a refresh after which a session expires; 0 for no limit. */
  readonly sessionIdleDays: number
  readonly mailIntervalS: number
  readonly rateLimits: 'on' | 'off'
  /** Number of trusted proxies in front of the server. */
  readonly trustProxy: number
  readonly secureCookies: boolean
}

/** Deletes a person's data outside the database: counts before the rows are deleted, `finish` deletes after. */
export type DeleteAccountData = (userId: string) => Promise<{
  readonly counts: Readonly<Record<string, number>>
  finish(): Promise<void>
}>

export interface AuthDependencies {
  readonly database: Database
  /** For what takes longer than a request may: an account is deleted with all its rows. */
  readonly background: Database
  readonly tokens: Tokens
  readonly mail: Mail
  readonly settings: AuthSettings
  readonly log: Log
  /** At least 32 random bytes of this installation, equal on every node. */
  readonly refreshKey: Buffer
  /** Called before a person's rows are deleted; undefined if all data is in rows. */
  readonly onAccountClosing?: DeleteAccountData | undefined
}

export interface AuthService extends Omit<AuthDependencies, 'refreshKey'> {
  readonly providers: Providers
  /** Deletions hold connections of the workers for a long time. */
  readonly limitDeletions: ReturnType<typeof createSemaphore>
  readonly keys: {
    readonly refresh: Buffer
    readonly codes: Buffer
    readonly factors: Buffer
    readonly recovery: Buffer
    readonly signIns: Buffer
    readonly answers: Buffer
  }
}

const MAX_DELETIONS = 2

const deriveKey = (key: Buffer, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', purpose, 32))

export function createAuthService({ refreshKey, ...rest }: AuthDependencies): AuthService {
  return {
    ...rest,
    limitDeletions: createSemaphore(MAX_DELETIONS),
    providers: createProviders(rest.settings.providers, () => `${rest.settings.siteUrl}/auth/v1/callback`),
    keys: {
      refresh: deriveKey(refreshKey, 'refresh tokens'),
      codes: deriveKey(refreshKey, 'one-time codes'),
      factors: deriveKey(refreshKey, 'second factors'),
      recovery: deriveKey(refreshKey, 'recovery codes'),
      signIns: deriveKey(refreshKey, 'sign-ins at providers'),
      answers: deriveKey(refreshKey, 'answers to sign-ups'),
    },
  }
}
