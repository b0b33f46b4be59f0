/** The `Prefer` header (RFC 7240) with PostgREST's preferences. */
import { restError } from './errors.ts'

const KNOWN_VALUES = {
  resolution: ['merge-duplicates', 'ignore-duplicates'],
  return: ['representation', 'minimal', 'headers-only'],
  count: ['exact', 'planned', 'estimated'],
  tx: ['commit', 'rollback'],
  missing: ['default', 'null'],
  handling: ['strict', 'lenient'],
} as const

type KnownValues = typeof KNOWN_VALUES
type ChosenValues = { -readonly [Name in keyof KnownValues]?: KnownValues[Name][number] }

export interface Preferences extends ChosenValues {
  timezone?: string
  /** Applies only with `handling=strict`. */
  maxAffected?: number
}

const isKnownName = (name: string): name is keyof KnownValues => Object.hasOwn(KNOWN_VALUES, name)

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Sets the preference unless an earlier item did; returns false for an unknown value. */
function setPreference(preferences: Preferences, name: keyof KnownValues, value: string): boolean {
  const chosen = KNOWN_VALUES[name].find((candidate) => candidate === value)
  if (chosen !== undefined && preferences[name] === undefined) Object.assign(preferences, { [name]: chosen })
  return chosen !== undefined
}

/** The first of repeated preferences wins. @throws RestError PGRST122 for an unknown one with `handling=strict`. */
export function parsePrefer(header: string, { allowsRollback }: { allowsRollback: boolean }): Preferences {
  const preferences: Preferences = {}
  const unknown: string[] = []
  for (const item of header.split(',').map((text) => text.trim())) {
    if (item === '') continue
    const [, name = '', value = ''] = /^([\w-]+)=(.*)$/s.exec(item) ?? []
    if (name === 'timezone' && isTimeZone(value)) preferences.timezone ??= value
    else if (name === 'max-affected' && /^\d{1,15}$/.test(value)) preferences.maxAffected ??= Number(value)
    else if (!isKnownName(name) || !setPreference(preferences, name, value)) unknown.push(item)
  }
  if (preferences.handling === 'strict' && unknown.length > 0) {
    throw restError('PGRST122', 'Invalid preferences given with handling=strict', {
      details: `Invalid preferences: ${unknown.join(', ')}`,
    })
  }
  if (!allowsRollback) delete preferences.tx
  return preferences
}

/** Preferences that take effect, by kind of request. */
const APPLIED_NAMES = {
  read: ['count', 'tx', 'handling', 'timezone'],
  insert: ['resolution', 'missing', 'return', 'count', 'tx', 'handling', 'timezone'],
  update: ['missing', 'return', 'count', 'tx', 'handling', 'timezone', 'max-affected'],
  delete: ['return', 'count', 'tx', 'handling', 'timezone', 'max-affected'],
  call: ['count', 'tx', 'handling', 'timezone', 'max-affected'],
} as const

/** Undefined if no preference applies. */
export function preferenceApplied(preferences: Preferences, kind: keyof typeof APPLIED_NAMES): string | undefined {
  const applied = APPLIED_NAMES[kind].flatMap((name) => {
    if (name === 'max-affected') {
      const { handling, maxAffected } = preferences
      return handling === 'strict' && maxAffected !== undefined ? [`max-affected=${maxAffected}`] : []
    }
    const value = preferences[name]
    return value === undefined ? [] : [`${name}=${value}`]
  })
  return applied.length > 0 ? applied.join(', ') : undefined
}
