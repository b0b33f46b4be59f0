import type { OwnLimits } from '#contract/usage.ts'
import { formatCost, formatCount } from './daily-usage.ts'

type Limit = OwnLimits[number]

interface LimitWords {
  readonly label: string
  readonly period: 'today' | 'this month'
  readonly format: (value: number) => string
}

const WORDS: Readonly<Record<string, LimitWords>> = {
  questions: { label: 'questions', period: 'today', format: formatCount },
  tokens: { label: 'tokens', period: 'today', format: formatCount },
  cost: { label: 'of cost', period: 'this month', format: formatCost },
  pages: { label: 'recognised pages', period: 'today', format: formatCount },
}

/** Share below which a person is told near the composer. */
const NEAR_SHARE = 0.1
/** Pages concern uploads, not questions. */
const OF_QUESTIONS = /questions|tokens|cost/

const roomOf = ({ used, allowed }: Limit): number => Math.max(0, allowed - used)

/** As in "Questions today: 3 of 20 used, 17 left." */
export function describeLimit(limit: Limit): string {
  const isForAll = limit.name.startsWith('all ')
  const words = WORDS[isForAll ? limit.name.slice(4) : limit.name]
  if (words === undefined) return ''
  const { label, period, format } = words
  const subject = label === 'of cost' ? 'Cost' : `${label.charAt(0).toUpperCase()}${label.slice(1)}`
  if (isForAll) return `${subject} of all people ${period}: ${limit.used} % used.`
  return `${subject} ${period}: ${format(limit.used)} of ${format(limit.allowed)} used, ${format(roomOf(limit))} left.`
}

/** A sentence about the scarcest limit of questions; null while enough is left of each. */
export function describeScarceLimit(limits: OwnLimits): string | null {
  const [scarcest] = limits
    .filter((limit) => OF_QUESTIONS.test(limit.name) && roomOf(limit) < NEAR_SHARE * limit.allowed)
    .toSorted((one, other) => roomOf(one) / one.allowed - roomOf(other) / other.allowed)
  if (scarcest === undefined) return null
  const isForAll = scarcest.name.startsWith('all ')
  const words = WORDS[isForAll ? scarcest.name.slice(4) : scarcest.name]
  if (words === undefined) return null
  const { label, period, format } = words
  if (isForAll)
    return `This server has ${roomOf(scarcest)} % of its ${label === 'of cost' ? 'cost' : label} left ${period}.`
  return `You have ${format(roomOf(scarcest))} of ${format(scarcest.allowed)}${label === 'of cost' ? '' : ` ${label}`} left ${period}.`
}
