import { expect, test } from 'vitest'
import { type ChatPart } from './chat.ts'
import { createPartQueue } from './part-queue.ts'

test('joins the text that nobody has read yet, and keeps the order of everything', async () => {
  const queue = createPartQueue()
  for (const text of ['a', 'b']) queue.push({ type: 'text', text })
  queue.push({ type: 'reasoning', text: 'hm' })
  queue.push({ type: 'text', text: 'c' })
  queue.end()
  const parts: ChatPart[] = []
  for await (const part of queue.read()) parts.push(part)
  expect(parts).toEqual([
    { type: 'text', text: 'ab' },
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'c' },
  ])
})

test('wakes whoever waits, and gives a failure once everything before it was read', async () => {
  const queue = createPartQueue()
  const reader = queue.read()
  const first = reader.next()
  queue.push({ type: 'text', text: 'a' })
  expect((await first).value).toEqual({ type: 'text', text: 'a' })
  queue.push({ type: 'text', text: 'b' })
  queue.fail(new Error('broken'))
  expect((await reader.next()).value).toEqual({ type: 'text', text: 'b' })
  await expect(reader.next()).rejects.toThrow('broken')
})
