import type { PublicConfig } from '#contract/auth.ts'

let loaded: PublicConfig | null = null

function requireText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Error(`config.json: ${name} is not a text`)
  return value
}

/** By hand, because the sign-in page is to be small and a schema library is not. */
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
  }
}

/** Reads `/config.json` once. Throws when the server does not answer with a valid one. */
export async function loadConfig(): Promise<PublicConfig> {
  if (loaded !== null) return loaded
  const response = await fetch('/config.json')
  if (!response.ok) throw new Error(`${response.status}: ${response.statusText}`)
  loaded = parseConfig(await response.json())
  return loaded
}

/** The configuration that `loadConfig` has read; nothing that needs it runs before. */
export function config(): PublicConfig {
  if (loaded === null) throw new Error('The configuration has not been loaded')
  return loaded
}
