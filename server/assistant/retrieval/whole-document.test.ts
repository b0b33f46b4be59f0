import { expect, test } from 'vitest'
import type { PassageSource } from '#contract/source.ts'
import { serveCompletions } from '#test/completions.ts'
import { condenseSources } from './whole-document.ts'

const PAGES = 40
const CONTEXT_WINDOW = 8_000

const page = (n: number): PassageSource => ({
  n,
  documentId: 'd',
  filename: 'long.pdf',
  page: n,
  start: 0,
  end: 2_000,
  text: `Page ${n}. `.padEnd(2_000, 'x'),
  score: 0,
})

const pagesIn = (asked: string) => [...asked.matchAll(/<source n="(\d+)"/g)].map(([, n]) => Number(n))

async function condenseBy(answer: Parameters<typeof serveCompletions>[0]) {
  const { chat, requests } = await serveCompletions(answer)
  const sources = Array.from({ length: PAGES }, (_, index) => page(index + 1))
  const signal = AbortSignal.timeout(20_000)
  const condensed = await condenseSources(sources, {
    chat,
    question: 'What is it about?',
    contextWindow: CONTEXT_WINDOW,
    signal,
  })
  return { ...condensed, requests }
}

const note = (asked: string) =>
  pagesIn(asked)
    .map((n) => `- Page ${n} [${n}]`)
    .join('\n')

test('every page has notes under its number', async () => {
  const { sources, pagesRead, requests } = await condenseBy((asked) => ({ content: note(asked) }))
  expect(pagesRead).toBe(PAGES)
  expect(requests).toHaveLength(10)
  expect(sources.map(({ n }) => n)).toEqual(Array.from({ length: 10 }, (_, index) => 1 + 4 * index))
  expect(sources.at(-1)?.text).toContain('- Page 40 [40]')
})

test('notes that are cut off are requested again for half of the pages', async () => {
  const { sources, pagesRead } = await condenseBy((asked) =>
    pagesIn(asked).length > 2 ? { content: '- Page', isCut: true } : { content: note(asked) },
  )
  expect(pagesRead).toBe(PAGES)
  expect(sources).toHaveLength(20)
  expect(sources.flatMap(({ text }) => text.match(/\[\d+\]/g) ?? [])).toHaveLength(PAGES)
})

test('pages without notes after two requests do not count as read', async () => {
  const { sources, pagesRead, requests } = await condenseBy((asked) => ({
    content: pagesIn(asked).includes(20) ? '' : note(asked),
  }))
  // Pages 17 to 20 are one group, whose second half has no notes.
  expect(pagesRead).toBe(18)
  expect(requests).toHaveLength(12)
  expect(sources.some(({ text }) => text.includes('[18]'))).toBe(true)
  expect(sources.some(({ text }) => text.includes('[19]'))).toBe(false)
})
