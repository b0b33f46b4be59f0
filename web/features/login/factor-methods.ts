import type { User } from '#web/data/auth/session.ts'

export type FactorMethod =
  { kind: 'app' } | { kind: 'phone'; factorId: string; name: string; challengeId: string | null } | { kind: 'recovery' }

/** The person's methods, the preferred one first. */
export function factorMethodsOf({ factors = [] }: Pick<User, 'factors'>): [FactorMethod, ...FactorMethod[]] {
  const verified = factors.filter(({ status }) => status === 'verified')
  const phones = verified
    .filter(({ factor_type: type }) => type === 'phone')
    .map(({ id, friendly_name }): FactorMethod => {
      const name = friendly_name === undefined || friendly_name === '' ? 'your phone' : friendly_name
      return { kind: 'phone', factorId: id, name, challengeId: null }
    })
  const apps: FactorMethod[] = verified.length > phones.length ? [{ kind: 'app' }] : []
  const [first, ...others] = [...apps, ...phones]
  const recovery: FactorMethod = { kind: 'recovery' }
  return first === undefined ? [recovery] : [first, ...others, recovery]
}

export const isSame = (one: FactorMethod, other: FactorMethod): boolean =>
  one.kind === other.kind && (one.kind !== 'phone' || other.kind !== 'phone' || one.factorId === other.factorId)

export function switchLabel(means: FactorMethod): string {
  if (means.kind === 'app') return 'Use the authenticator app'
  return means.kind === 'recovery' ? 'Use a recovery code' : `Send a code to ${means.name}`
}

export function wordsOf(means: FactorMethod): { title: string; subtitle: string } {
  if (means.kind === 'app') {
    return {
      title: 'Enter your code',
      subtitle: 'Open your authenticator app and enter the six digits that it shows for this account.',
    }
  }
  if (means.kind === 'recovery') {
    return {
      title: 'Enter a recovery code',
      subtitle: 'You saved these codes when you turned two-factor on. Each of them works once.',
    }
  }
  return {
    title: 'Enter the code of the message',
    subtitle:
      means.challengeId === null
        ? `A text message with six digits is sent to ${means.name}.`
        : `Six digits are on their way to ${means.name}. They count for five minutes.`,
  }
}
