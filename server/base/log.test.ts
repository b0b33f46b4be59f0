import { expect, test } from 'vitest'
import { z } from 'zod'
import { createLog } from './log.ts'

const logged = z.object({
  err: z.object({ message: z.string(), stack: z.string(), cause: z.object({ message: z.string() }).optional() }),
})

function logError(error: Error) {
  let line = ''
  createLog('error', { write: (text) => (line += text) }).error({ err: error }, 'it failed')
  return { line, ...logged.parse(JSON.parse(line)) }
}

test.each([
  ['550 5.1.1 <ada.lovelace+work@mail.example.com>: not known', '550 5.1.1 <a…@mail.example.com>: not known'],
  ["to 'o'hara@example.com', ada@example.org.", "to 'o…@example.com', a…@example.org."],
  ['mailto:ada@example.com?to=bob%2Bx%40example.com', 'mailto:a…@example.com?to=b…%40example.com'],
  ['zoë@bücher.example is away', 'z…@bücher.example is away'],
])('masks the mail addresses of an error: %s', (message, masked) => {
  expect(logError(new Error(message)).err.message).toBe(masked)
})

test('masks them in the stack and the cause too', () => {
  const cause = new Error('ada@example.com is full')
  const { line, err } = logError(new Error('bob@example.com was not told', { cause }))
  expect(err.stack).toContain('b…@example.com was not told\n')
  expect(err.cause?.message).toBe('a…@example.com is full')
  expect(line).not.toMatch(/ada@|bob@/)
})

test('leaves text alone that only resembles an address', () => {
  const message = 'at node_modules/@hono/node-server/index.js, hono@4.13.1, 12@host, @, %40'
  expect(logError(new Error(message)).err.message).toBe(message)
})
