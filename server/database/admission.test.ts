import { expect, test, vi } from 'vitest'
import { runAsCaller, identifyCaller } from '#server/base/caller.ts'
import { type AdmissionLimits, connectionCaller, createAdmission, isRefusedTurn } from './admission.ts'
import type { CallerUsage } from './caller-usage.ts'

const LIMITS: AdmissionLimits = { places: 4, placesPerCaller: 2, waitingPerCaller: 3 }
const FREE: CallerUsage = {
  begin: () => undefined,
  end: () => undefined,
  isOverdrawn: () => false,
  hasOthers: () => false,
}

/** Asks in order; `order` names those admitted so far. */
function open(limits: AdmissionLimits = LIMITS, usage: CallerUsage = FREE) {
  const admission = createAdmission(limits, usage)
  const order: string[] = []
  return {
    order,
    leave: (caller: string) => admission.leave(caller),
    ask: async (caller: string, name = caller) => {
      const turn = admission.enter(caller)
      if (turn) await turn
      order.push(name)
    },
  }
}

/** Lets every admission that is due arrive. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a caller is admitted at once up to its share, and others beyond it', async () => {
  const { ask, leave, order } = open()
  const asked = [ask('one', 'one 1'), ask('one', 'one 2'), ask('one', 'one 3'), ask('two', 'two 1')]
  await settled()
  expect(order).toEqual(['one 1', 'one 2', 'two 1'])
  leave('one')
  await Promise.all(asked)
  expect(order).toEqual(['one 1', 'one 2', 'two 1', 'one 3'])
})

test('callers who wait take turns, however many requests one of them has', async () => {
  const { ask, leave, order } = open({ places: 1, placesPerCaller: 1 })
  const asked = [ask('zero'), ask('one', 'one 1'), ask('one', 'one 2'), ask('one', 'one 3'), ask('two'), ask('three')]
  await settled()
  for (const done of ['zero', 'one', 'two', 'three', 'one']) {
    leave(done)
    await settled()
  }
  await Promise.all(asked)
  expect(order).toEqual(['zero', 'one 1', 'two', 'three', 'one 2', 'one 3'])
})

test('a caller at its share does not delay the turn of another', async () => {
  const { ask, leave, order } = open()
  const asked = [ask('one'), ask('one'), ask('two'), ask('three'), ask('one', 'one again'), ask('four')]
  await settled()
  leave('three')
  await settled()
  expect(order).toEqual(['one', 'one', 'two', 'three', 'four'])
  leave('one')
  await Promise.all(asked)
  expect(order.at(-1)).toBe('one again')
})

test('an overdrawn caller goes on one at a time while others are active, and a program of the operator is not slowed', async () => {
  let others = true
  const { ask, leave, order } = open(LIMITS, { ...FREE, isOverdrawn: () => true, hasOthers: () => others })
  const asked = [
    ask('one', 'one 1'),
    ask('one', 'one 2'),
    ask('one', 'one 3'),
    ask('service_role'),
    ask('service_role'),
  ]
  await settled()
  expect(order).toEqual(['one 1', 'service_role', 'service_role'])
  leave('one')
  await settled()
  expect(order.at(-1)).toBe('one 2')
  others = false
  leave('one')
  await Promise.all([...asked, ask('one', 'one 4')])
  expect(order.slice(-2).toSorted()).toEqual(['one 3', 'one 4'])
})

/** Slows down callers whose names begin with `slow`. */
const SLOW: CallerUsage = { ...FREE, isOverdrawn: (caller) => caller.startsWith('slow'), hasOthers: () => true }

test('callers who are slowed down hold half of all places together, and come after the others', async () => {
  const { ask, leave, order } = open({ places: 4, placesPerCaller: 2 }, SLOW)
  const slow = Array.from({ length: 12 }, (_, n) => ask(`slow ${n}`))
  await settled()
  expect(order).toEqual(['slow 0', 'slow 1'])
  const asked = [ask('one'), ask('two'), ask('three')]
  await settled()
  expect(order.slice(2)).toEqual(['one', 'two'])
  leave('slow 0')
  await settled()
  expect(order.slice(4)).toEqual(['three'])
  leave('one')
  await settled()
  expect(order.slice(5)).toEqual(['slow 2'])
  for (const done of ['two', 'three', 'slow 1']) leave(done)
  await settled()
  expect(order.slice(6)).toEqual(['slow 3'])
  for (let n = 2; n < 12; n += 1) {
    leave(`slow ${n}`)
    await settled()
  }
  await Promise.all([...slow, ...asked])
})

test('the last places are for callers who hold none', async () => {
  const { ask, leave, order } = open({ places: 12, placesPerCaller: 4 })
  const four = (caller: string) => Array.from({ length: 4 }, () => ask(caller))
  const asked = [...four('one'), ...four('two'), ask('three'), ask('three'), ask('three', 'third of three')]
  await settled()
  expect(order).toHaveLength(10)
  const others = [ask('four'), ask('five')]
  await settled()
  expect(order.slice(10)).toEqual(['four', 'five'])
  leave('one')
  leave('one')
  await settled()
  expect(order).toHaveLength(12)
  leave('one')
  await Promise.all([...asked, ...others])
  expect(order.at(-1)).toBe('third of three')
})

test('programs with the service key, which serve many people, have a larger share, but never all places', async () => {
  const { ask, leave, order } = open({ places: 12, placesPerCaller: 4, waitingPerCaller: 3 })
  const asked = Array.from({ length: 14 }, () => ask('service_role'))
  await settled()
  expect(order).toHaveLength(8)
  const refused = await ask('service_role').catch((error: unknown) => error)
  expect(isRefusedTurn(refused) && refused.code).toBe('rate_limited')
  await ask('one')
  for (let n = 0; n < 14; n += 1) leave('service_role')
  await Promise.all(asked)

  const narrow = open({ places: 4, placesPerCaller: 2 })
  const few = Array.from({ length: 4 }, () => narrow.ask('service_role'))
  await settled()
  expect(narrow.order).toHaveLength(3)
  await narrow.ask('one')
  narrow.leave('service_role')
  await Promise.all(few)
})

test('too many waiting requests of one caller are rejected, those of others are not', async () => {
  const { ask } = open({ ...LIMITS, places: 1 })
  const asked = Array.from({ length: 4 }, () => ask('one'))
  const refused = await ask('one').catch((error: unknown) => error)
  expect(isRefusedTurn(refused) && [refused.code, refused.details.retryAfterS]).toEqual(['rate_limited', 1])
  const other = ask('two')
  expect(await Promise.race([other.then(() => 'admitted'), settled().then(() => 'waits')])).toBe('waits')
  expect(asked).toHaveLength(4)
})

test('a request that has waited too long is rejected, and its turn passes on', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { ask, leave, order } = open({ places: 1, placesPerCaller: 1, waitLimitMs: 1_000 })
    await ask('one')
    const refused = ask('two').catch((error: unknown) => error)
    vi.advanceTimersByTime(999)
    const late = ask('three')
    vi.advanceTimersByTime(1)
    const error = await refused
    expect(isRefusedTurn(error) && error.code).toBe('unavailable')
    leave('one')
    await late
    expect(order).toEqual(['one', 'three'])
  } finally {
    vi.useRealTimers()
  }
})

test('a connection counts for the account, without a lasting one for the address, and for all programs with the service key', () => {
  const person = { role: 'authenticated', sub: 'a' } as const
  expect(connectionCaller(person)).toBe('a')
  expect(connectionCaller({ role: 'service_role', sub: 'a' })).toBe('service_role')
  runAsCaller('192.0.2.1', () => {
    expect(connectionCaller(person)).toBe('a')
    expect(connectionCaller({ role: 'anon' })).toBe('address:192.0.2.1')
    expect(connectionCaller({ ...person, is_anonymous: true })).toBe('address:192.0.2.1')
    identifyCaller('b')
    expect(connectionCaller({ role: 'anon' })).toBe('b')
  })
  expect(connectionCaller({ role: 'anon' })).toBe('anon')
})
