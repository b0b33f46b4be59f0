import type { PublicConfig } from '#contract/auth.ts'
import { ownPath } from '#web/data/base-path.ts'

let loaded: PublicConfig | null = null

function requireText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Error(`config.json: ${name} is not a text`)
  return value
}

/** Parsed by hand to keep a schema library out of the sign-in page. */
function parseConfig(value: unknown): PublicConfig {
  const given: Partial<Record<keyof PublicConfig, unknown>> = typeof value === 'object' && value !== null ? value : {}
  const account: { email?: unknown; password?: unknown } | null =
    typeof given.testAccount === 'object' ? given.testAccount : null
  return {
    supabaseUrl: requireText(given.supabaseUrl, 'supabaseUrl').replace(/\/+$/, ''),
    supabaseAnonKey: requireText(given.supabaseAnonKey, 'supabaseAnonKey'),
    testAccount:
      account === null
        ? null
        : {
            email: requireText(account.email, 'testAccount.email'),
            password: requireText(account.password, 'testAccount.password'),
          },
    mailbox: typeof given.mailbox === 'string' ? given.mailbox : null,
    requiresSecondFactor: given.requiresSecondFactor === true,
    hasTextMessages: given.hasTextMessages === true,
    hasPublicLinks: given.hasPublicLinks === true,
    timeZone: typeof given.timeZone === 'string' ? given.timeZone : undefined,
  }
}

/** Fetches `/config.json` once. @throws if the request fails or a value is invalid */
export async function loadConfig(): Promise<PublicConfig> {
  if (loaded !== null) return loaded
  const response = await fetch(ownPath('/config.json'))
  if (!response.ok) throw new Error(`${response.status}: ${response.statusText}`)
  loaded = parseConfig(await response.json())
  return loaded
}

/** The browser's time zone; undefined if it is the server's. */
export function otherTimeZone(): string | undefined {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return timeZone === config().timeZone ? undefined : timeZone
}

export function config(): PublicConfig {
  if (loaded === null) throw new Error('The configuration has not been loaded')
  return loaded
}
