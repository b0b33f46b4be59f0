/** Settings that an operator may change in the page, by the declarations of the environment. */
import type { Config } from '#server/config.ts'
import { SETTINGS } from '#server/config.ts'
import { lockChoices, type ModelChoices, requireOffered, storeChoices } from '#server/connections/offered-models.ts'
import { type Quotas, storeQuotas } from '#server/database/quotas.ts'
import type { Scope } from '#server/database/scope.ts'
import { createOperatorSettings, type OperatorSettings } from '#server/operation/settings.ts'
import { createProviders } from '#server/providers/provider-registry.ts'
import type { Foundation } from './foundation.ts'
import { providerSettings } from './provider-settings.ts'

const BYTES_PER_MB = 1_000_000

const CHANGEABLE = [
  'AUTH_SIGNUP',
  'QUOTA_FILES_MB',
  'QUOTA_TEXT_MB',
  'QUOTA_TOTAL_MB',
  'LIMIT_QUESTIONS',
  'LIMIT_QUESTIONS_ALL',
  'LIMIT_TOKENS',
  'LIMIT_TOKENS_ALL',
  'LIMIT_COST',
  'LIMIT_COST_ALL',
  'LIMIT_PAGES',
  'LIMIT_PAGES_ALL',
  'DEFAULT_MODEL',
  'OFFER_NEW_MODELS',
] as const satisfies readonly (keyof typeof SETTINGS)[]

type Changeable = (typeof CHANGEABLE)[number]
type TextOf = (name: string) => string

const parsed = <Name extends Changeable>(name: Name, textOf: TextOf): Config[Name] =>
  SETTINGS[name].parse.parse(textOf(name)) as Config[Name]

const quotasOf = (textOf: TextOf): Quotas => ({
  fileBytesPerPerson: parsed('QUOTA_FILES_MB', textOf) * BYTES_PER_MB,
  textBytesPerPerson: parsed('QUOTA_TEXT_MB', textOf) * BYTES_PER_MB,
  totalBytes: parsed('QUOTA_TOTAL_MB', textOf) * BYTES_PER_MB,
  questionsPerPerson: parsed('LIMIT_QUESTIONS', textOf),
  questionsTotal: parsed('LIMIT_QUESTIONS_ALL', textOf),
  tokensPerPerson: parsed('LIMIT_TOKENS', textOf),
  tokensTotal: parsed('LIMIT_TOKENS_ALL', textOf),
  costPerPerson: parsed('LIMIT_COST', textOf),
  costTotal: parsed('LIMIT_COST_ALL', textOf),
  pagesPerPerson: parsed('LIMIT_PAGES', textOf),
  pagesTotal: parsed('LIMIT_PAGES_ALL', textOf),
})

const choicesOf = (config: Config, textOf: TextOf): ModelChoices => ({
  offered: config.OFFERED_MODELS,
  offersNew: parsed('OFFER_NEW_MODELS', textOf),
  defaultModel: parsed('DEFAULT_MODEL', textOf) || undefined,
})

export const readModelChoices = (config: Config, settings: OperatorSettings) => async (scope: Scope) =>
  choicesOf(config, await settings.readTexts(scope))

/** Values of settings that were given as text to this process: `Config` keeps only what they were parsed to. */
function textOfConfig(config: Config, name: Changeable): string {
  const value = config[name]
  if (value === undefined) return ''
  return name === 'LIMIT_COST' || name === 'LIMIT_COST_ALL' ? String(Number(value) / 1_000_000) : String(value)
}

export const openOperatorSettings = ({ config, background, listener, log }: Foundation): Promise<OperatorSettings> =>
  createOperatorSettings({
    database: background,
    listener,
    log,
    rules: CHANGEABLE.map((name) => ({
      name,
      explains: SETTINGS[name].explains,
      wants: SETTINGS[name].wants,
      fixed: config.given.has(name) ? textOfConfig(config, name) : undefined,
      fallback: textOfConfig(config, name),
      accepts: (value) => value !== '' && SETTINGS[name].parse.safeParse(value).success,
    })),
    async apply(scope, textOf, changed) {
      await storeQuotas(scope, quotasOf(textOf))
      // At the start, the workers apply them.
      if (changed !== 'DEFAULT_MODEL' && changed !== 'OFFER_NEW_MODELS') return
      const { configured } = createProviders(providerSettings(config))
      const choices = choicesOf(config, textOf)
      await lockChoices(scope)
      if (changed === 'DEFAULT_MODEL' && choices.defaultModel !== undefined)
        await requireOffered(scope, configured, choices.defaultModel)
      await storeChoices(scope, configured, choices)
    },
  })

export const signupOf = (settings: OperatorSettings): Config['AUTH_SIGNUP'] => parsed('AUTH_SIGNUP', settings.textOf)

/** Whether answers of models have to be admitted one by one. */
export function limitsTokens({ textOf }: OperatorSettings): boolean {
  const { tokensPerPerson, tokensTotal, costPerPerson, costTotal } = quotasOf(textOf)
  return tokensPerPerson + tokensTotal + costPerPerson + costTotal > 0
}
