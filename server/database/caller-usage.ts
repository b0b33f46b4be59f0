/**
 * How much connection time each caller has used lately, over all pools: a token bucket in milliseconds. A caller who has
 * overdrawn it is slowed down while others are active.
 */

export interface CallerUsage {
  begin(caller: string): void
  end(caller: string): void
  isOverdrawn(caller: string): boolean
  /** Whether another caller has been active lately. */
  hasOthers(caller: string): boolean
}

interface Account {
  running: number
  balanceMs: number
  /** On the clock of `performance.now()`. */
  balancedAt: number
}

/** Connection time that a caller may use at once; opening the page takes about a tenth of it. */
const MAX_BALANCE_MS = 2_000
/** Share of one connection that a caller may use for ever without being slowed down. */
const REFILL_PER_MS = 0.5
/** Bounds how long a caller stays slowed down after heavy use. */
const MIN_BALANCE_MS = -10_000
/** Others count as active this long after their last statement began. */
const ACTIVE_PERIOD_MS = 5_000
const MAX_ACCOUNTS = 10_000

/** @param maxCounted uses at the same time that count, where further ones mostly wait for these */
export function createCallerUsage(
  readClock: () => number = () => performance.now(),
  maxCounted = Infinity,
): CallerUsage {
  const accounts = new Map<string, Account>()
  let latest = { caller: '', at: -Infinity }
  let latestOther = latest

  /** Statements that still run count too, so `running` changes only after this. */
  function balancedAccount(caller: string, now: number): Account {
    const known = accounts.get(caller)
    if (known) {
      const change = (now - known.balancedAt) * (REFILL_PER_MS - Math.min(known.running, maxCounted))
      known.balanceMs = Math.min(MAX_BALANCE_MS, Math.max(MIN_BALANCE_MS, known.balanceMs + change))
      known.balancedAt = now
      return known
    }
    if (accounts.size >= MAX_ACCOUNTS) forgetFullAccounts(now)
    const account = { running: 0, balanceMs: MAX_BALANCE_MS, balancedAt: now }
    accounts.set(caller, account)
    return account
  }

  /** A full account limits nothing: the caller's next one begins the same. */
  function forgetFullAccounts(now: number): void {
    for (const caller of [...accounts.keys()]) {
      const { running, balanceMs } = balancedAccount(caller, now)
      if (running === 0 && balanceMs === MAX_BALANCE_MS) accounts.delete(caller)
    }
  }

  return {
    begin(caller) {
      const now = readClock()
      if (latest.caller !== caller) latestOther = latest
      latest = { caller, at: now }
      balancedAccount(caller, now).running += 1
    },
    end(caller) {
      balancedAccount(caller, readClock()).running -= 1
    },
    isOverdrawn: (caller) => balancedAccount(caller, readClock()).balanceMs <= 0,
    hasOthers(caller) {
      const other = latest.caller === caller ? latestOther : latest
      return readClock() - other.at < ACTIVE_PERIOD_MS
    },
  }
}
