import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { AppError } from '#server/base/errors.ts'
import { createLog } from '#server/base/log.ts'
import { createRunningTransactions } from '#server/database/running-transactions.ts'
import { openAccessWatch } from './access-watch.ts'

/** A watch over sessions whose ends are told by `end`, or only by `reconnect`. */
async function openWatch() {
  const handlers = new Map<string, (payload: string) => void>()
  const onReconnect: (() => void)[] = []
  const ended = new Set<string>()
  const cancelled: object[] = []
  const running = createRunningTransactions((client) => cancelled.push(client))
  let failures = 0
  let failure: Error = new Error('The connection was lost.')
  const isOpen = async (sessionId: string): Promise<boolean> => {
    failures -= 1
    if (failures >= 0) throw failure
    return !ended.has(sessionId)
  }
  const watch = await openAccessWatch(
    {
      isOrdered: true,
      on(channel, handler) {
        handlers.set(channel, handler)
        return Promise.resolve(() => void handlers.delete(channel))
      },
      onReconnect: (handler) => void onReconnect.push(handler),
      catchUp: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
    (sessionId) => isOpen(sessionId),
    running,
    createLog('silent'),
  )
  const lost: string[] = []
  const begin = (person: string, sessionId: string | undefined) =>
    watch.watch(person, {
      sessionId,
      isAllowed: () => Promise.resolve(true),
      onLost: () => void lost.push(`${person} ${sessionId}`),
    })
  return {
    stop: () => {
      watch.stop()
    },
    handlers,
    lost,
    begin,
    cancelled,
    running,
    missEnd: (sessionId: string) => void ended.add(sessionId),
    fail: (times: number, error = failure) => {
      failures = times
      failure = error
    },
    tellEnd: (sessionId: string) => handlers.get('realtime_session_end')?.(sessionId),
    reconnect: () => {
      for (const handler of onReconnect) handler()
    },
  }
}

test('the end of a session breaks off what is sent in it, and nothing of other sessions and people', async () => {
  const opened = await openWatch()
  const { handlers, lost, begin, tellEnd } = opened
  begin('ann', 'first')
  begin('ann', 'second')
  begin('ann', undefined)
  begin('ben', 'third')
  const endOfDownload = begin('ann', 'first')
  endOfDownload()
  tellEnd('first')
  expect(lost).toEqual(['ann first'])
  opened.stop()
  expect(handlers.size).toBe(0)
})

test('the end of a session that was missed is noticed once the listener is connected again', async () => {
  const { lost, begin, missEnd, reconnect } = await openWatch()
  begin('ann', 'first')
  begin('ann', 'second')
  begin('ben', 'third')
  missEnd('first')
  reconnect()
  await vi.waitUntil(() => lost.length > 0)
  expect(lost).toEqual(['ann first'])
})

test('statements that run end with their session, also when its end was missed', async () => {
  const { cancelled, running, missEnd, tellEnd, reconnect } = await openWatch()
  const run = (sub: string, sessionId: string) => {
    const client = new pg.Client()
    running.enter({ role: 'authenticated', sub, session_id: sessionId }, false).begin(client)
    return client
  }
  const [first, second] = [run('ann', 'first'), run('ann', 'second')]
  run('ben', 'third')
  tellEnd('first')
  expect(new Set(cancelled)).toEqual(new Set([first]))
  missEnd('second')
  reconnect()
  await vi.waitUntil(() => cancelled.includes(second))
  expect(new Set(cancelled)).toEqual(new Set([first, second]))
  expect(running.sessions()).toEqual(['third'])
})

test('a session that ends between the check of its token and the watch is noticed', async () => {
  const { lost, begin, missEnd, tellEnd } = await openWatch()
  missEnd('first')
  tellEnd('first')
  begin('ann', 'first')
  begin('ann', 'second')
  await vi.waitUntil(() => lost.length > 0)
  expect(lost).toEqual(['ann first'])
})

test('one failed question about a session breaks nothing off, two do', async () => {
  const { lost, begin, fail, reconnect } = await openWatch()
  begin('ann', 'first')
  fail(1)
  reconnect()
  const { promise: isAsked, resolve } = Promise.withResolvers<undefined>()
  setImmediate(() => resolve(undefined))
  await isAsked
  expect(lost).toEqual([])
  fail(2)
  reconnect()
  await vi.waitUntil(() => lost.length > 0)
  expect(lost).toEqual(['ann first'])
})

test.each([
  new AppError('unavailable', 'The request waited.', { details: { retryAfterS: 1 } }),
  Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }),
])('a question that came to no turn is asked until it is answered: $message', async (refusal) => {
  const { lost, begin, fail, missEnd, reconnect } = await openWatch()
  begin('ann', 'first')
  begin('ben', 'second')
  fail(4, refusal)
  missEnd('first')
  reconnect()
  await vi.waitFor(() => expect(lost).toEqual(['ann first']), { timeout: 10_000 })
})
