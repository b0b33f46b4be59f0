/** Settings that an operator may change in the page while the server runs. Those of the environment take precedence. */
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Database, Scope } from '#server/database/scope.ts'

export interface SettingRule {
  readonly name: string
  readonly explains: string
  readonly wants: string
  /** As the environment states it; undefined: the page may change it. */
  readonly fixed: string | undefined
  readonly fallback: string
  readonly accepts: (value: string) => boolean
}

export interface OperatorSettings {
  readonly rules: readonly SettingRule[]
  /** The value that applies, as text. */
  readonly textOf: (name: string) => string
  /** Whether the page changed it. */
  isChanged(name: string): boolean
  /** Null returns to the default. @throws AppError `not_found`, `conflict` for one that the environment fixes, `bad_request` */
  change(name: string, value: string | null, operator: string): Promise<void>
  /** The values as they are in the transaction of the scope, also where another server has just changed them. */
  readTexts(scope: Scope): Promise<(name: string) => string>
  /** Runs `apply` with the values of now. */
  apply(): Promise<void>
}

interface OperatorSettingsOptions {
  readonly database: Database
  readonly listener: Listener
  readonly rules: readonly SettingRule[]
  readonly log: Log
  /** Stores what the values decide, as the service; at the start without a changed setting. @throws AppError for a value that does not fit */
  readonly apply: (scope: Scope, textOf: (name: string) => string, changed?: string) => Promise<void>
}

const CHANNEL = 'operator_settings'

/** A server without the product may have no such table. */
async function read(scope: Scope): Promise<ReadonlyMap<string, string>> {
  const { rows: tables } = await scope.query<{ exists: boolean }>(
    `select to_regclass('public.operator_settings') is not null as exists`,
  )
  if (tables[0]?.exists !== true) return new Map()
  const { rows } = await scope.query<{ name: string; value: string }>('select name, value from operator_settings')
  return new Map(rows.map(({ name, value }) => [name, value]))
}

export async function createOperatorSettings({
  database,
  listener,
  rules,
  log,
  apply,
}: OperatorSettingsOptions): Promise<OperatorSettings> {
  let stored = await database.asService(read)
  const refresh = () => {
    database.asService(read).then(
      (changed) => {
        stored = changed
      },
      (error: unknown) => log.warn({ err: error }, 'changed settings could not be read'),
    )
  }
  await listener.on(CHANNEL, refresh)
  listener.onReconnect(refresh)

  /** A value that an earlier version stored and this one does not accept is ignored. */
  const findStored = ({ name, fixed, accepts }: SettingRule, values: ReadonlyMap<string, string>) => {
    const value = fixed === undefined ? values.get(name) : undefined
    return value !== undefined && accepts(value) ? value : undefined
  }
  const ruleOf = (name: string): SettingRule => {
    const rule = rules.find((one) => one.name === name)
    if (!rule) throw new AppError('not_found', 'There is no such setting.')
    return rule
  }
  const textIn = (values: ReadonlyMap<string, string>) => (name: string) => {
    const rule = ruleOf(name)
    return findStored(rule, values) ?? rule.fixed ?? rule.fallback
  }

  return {
    rules,
    textOf: (name) => textIn(stored)(name),
    isChanged: (name) => findStored(ruleOf(name), stored) !== undefined,
    async change(name, value, operator) {
      const { fixed, accepts, wants } = ruleOf(name)
      if (fixed !== undefined) throw new AppError('conflict', `${name} is set in the environment of the server.`)
      if (value !== null && !accepts(value)) throw new AppError('bad_request', `${name} wants ${wants}.`)
      stored = await database.asService(async (scope) => {
        // Two changes at the same time would each apply the values from before the other.
        await scope.query('lock table operator_settings in share row exclusive mode')
        await (value === null
          ? scope.query('delete from operator_settings where name = $1', [name])
          : scope.query(
              `insert into operator_settings (name, value, changed_by) values ($1, $2, $3)
               on conflict (name) do update set value = excluded.value, changed_by = excluded.changed_by, changed_at = now()`,
              [name, value, operator],
            ))
        const changed = await read(scope)
        await apply(scope, textIn(changed), name)
        await scope.query('select pg_notify($1, $2)', [CHANNEL, ''])
        return changed
      })
      log.info({ setting: name, value, operator }, 'an operator changed a setting')
    },
    readTexts: async (scope) => textIn(await read(scope)),
    apply: () => database.asService((scope) => apply(scope, textIn(stored))),
  }
}
