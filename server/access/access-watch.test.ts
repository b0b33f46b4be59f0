import { expect, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { openAccessWatch } from './access-watch.ts'

test('the end of a session breaks off what is sent in it, and nothing of other sessions and people', async () => {
  const handlers = new Map<string, (payload: string) => void>()
  const watch = await openAccessWatch(
    {
      isOrdered: true,
      on(channel, handler) {
        handlers.set(channel, handler)
        return Promise.resolve(() => void handlers.delete(channel))
      },
      onReconnect: () => undefined,
      close: () => Promise.resolve(),
    },
    createLog('silent'),
  )
  const lost: string[] = []
  const begin = (person: string, sessionId: string | undefined) =>
    watch.watch(person, {
      sessionId,
      isAllowed: () => Promise.resolve(true),
      onLost: () => void lost.push(`${person} ${sessionId}`),
    })
  begin('ann', 'first')
  begin('ann', 'second')
  begin('ann', undefined)
  begin('ben', 'third')
  const endOfDownload = begin('ann', 'first')
  endOfDownload()
  handlers.get('realtime_session_end')?.('first')
  expect(lost).toEqual(['ann first'])
  watch.stop()
  expect(handlers.size).toBe(0)
})
