import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Turn } from '#server/conversations/queries.ts'
import { fitHistory } from './fit-history.ts'
import { extractSummary } from './summary.ts'

let position = 0
const turn = (sender_role: Turn['sender_role'], content: string, has_failed = false): Turn => ({
  id: randomUUID(),
  position: (position += 1),
  content,
  sender_role,
  has_failed,
  tool_name: null,
})
const WORDS = 'one two three four five six seven eight nine ten '

test('reads all of a short conversation without counting it', async () => {
  const history = [turn(1, 'a'), turn(3, 'tool'), turn(2, '', true), turn(2, 'b'), turn(1, 'c')]
  const { verbatim, older, counter } = await fitHistory({
    history,
    otherText: 'm',
    contextWindow: 8_000,
    provider: 'OpenAI',
  })
  expect(verbatim.map(({ content }) => content)).toEqual(['a', 'b', 'c'])
  expect(older).toEqual([])
  expect(counter).toBeUndefined()
})

test('counts tokens before it treats a conversation as too long', async () => {
  const history = [turn(1, WORDS.repeat(40)), turn(2, WORDS.repeat(40)), turn(1, 'c')]
  const fit = await fitHistory({ history, otherText: '', contextWindow: 4_000, provider: 'OpenAI' })
  expect(fit.older).toEqual([])
  expect(fit.counter).toBeDefined()
})

test('includes the newest turns verbatim and always the question', async () => {
  const history = Array.from({ length: 20 }, (_, index) => turn(index % 2 === 0 ? 1 : 2, WORDS.repeat(30)))
  const question = turn(1, 'And now?')
  const { verbatim, older } = await fitHistory({
    history: [...history, question],
    otherText: WORDS.repeat(20),
    contextWindow: 5_000,
    provider: 'OpenAI',
  })
  expect([...older, ...verbatim]).toEqual([...history, question])
  expect(verbatim.length).toBeGreaterThan(1)
  expect(older.length).toBeGreaterThan(10)
  const tight = await fitHistory({ history: [...history, question], otherText: '', contextWindow: 600, provider: 'X' })
  expect(tight.verbatim).toEqual([question])
})

test('includes the last answer verbatim while it fits with a summary', async () => {
  const history = [...Array.from({ length: 10 }, () => turn(1, WORDS.repeat(40))), turn(1, 'Why?')]
  const answer = turn(2, WORDS.repeat(220))
  const question = turn(1, 'Shorter, please.')
  const fit = (contextWindow: number) =>
    fitHistory({ history: [...history, answer, question], otherText: '', contextWindow, provider: 'OpenAI' })
  expect((await fit(4_800)).verbatim.map(({ content }) => content)).toEqual([
    'Why?',
    answer.content,
    'Shorter, please.',
  ])
  expect((await fit(4_000)).verbatim).toEqual([question])
})

test('extracts sentences from the messages where no model summarises', () => {
  const summary = extractSummary('Asked: Who?', [
    turn(1, 'Where is the lamp? I need it.'),
    turn(2, `In the alcove. ${'X'.repeat(9_000)}`),
  ])
  expect(summary).toBe('Asked: Who?\nAsked: Where is the lamp?\nAnswered: In the alcove.')
  const many = extractSummary(
    '',
    Array.from({ length: 500 }, () => turn(1, 'y'.repeat(3_000))),
  )
  expect(many.length).toBeLessThanOrEqual(8_000)
})
