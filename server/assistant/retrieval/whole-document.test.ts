import { expect, test } from 'vitest'
import type { PassageSource } from '#contract/source.ts'
import { maxPromptTokens } from '#server/assistant/prompt/fit-history.ts'
import { loadCounter } from '#server/assistant/prompt/tokens.ts'
import { promptCharacters } from '#server/search/prompt-characters.ts'
import { serveCompletions } from '#test/completions.ts'
import { condenseSources, groupSources } from './whole-document.ts'

const PAGES = 40
const CONTEXT_WINDOW = 8_000

const page = (n: number, text = `Page ${n}. `.padEnd(2_000, 'x')): PassageSource => ({
  n,
  documentId: 'd',
  filename: 'long.pdf',
  page: n,
  start: 0,
  end: 2_000,
  text,
  score: 0,
})

const pagesIn = (asked: string) => [...asked.matchAll(/<source n="(\d+)"/g)].map(([, n]) => Number(n))

async function condenseBy(answer: Parameters<typeof serveCompletions>[0], text?: string) {
  const { chat, requests } = await serveCompletions(answer)
  const sources = Array.from({ length: PAGES }, (_, index) => page(index + 1, text))
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
  expect(pagesRead).toHaveLength(PAGES)
  expect(requests).toHaveLength(10)
  expect(sources.map(({ n }) => n)).toEqual(Array.from({ length: 10 }, (_, index) => 1 + 4 * index))
  expect(sources.at(-1)?.text).toContain('- Page 40 [40]')
})

test('notes that are cut off are requested again for half of the pages', async () => {
  const { sources, pagesRead } = await condenseBy((asked) =>
    pagesIn(asked).length > 2 ? { content: '- Page', isCut: true } : { content: note(asked) },
  )
  expect(pagesRead).toHaveLength(PAGES)
  expect(sources).toHaveLength(20)
  expect(sources.flatMap(({ text }) => text.match(/\[\d+\]/g) ?? [])).toHaveLength(PAGES)
})

test('pages without notes after two requests do not count as read', async () => {
  const { sources, pagesRead, requests } = await condenseBy((asked) => ({
    content: pagesIn(asked).includes(20) ? '' : note(asked),
  }))
  // Pages 17 to 20 are one group, whose second half has no notes.
  expect(pagesRead).toHaveLength(18)
  expect(requests).toHaveLength(12)
  expect(sources.some(({ text }) => text.includes('[18]'))).toBe(true)
  expect(sources.some(({ text }) => text.includes('[19]'))).toBe(false)
})

test.each(['租金每月一日支付，押金为两个月。', '家賃は毎月一日に支払います。', '임대료는 매월 일일에 지급합니다.'])(
  'requests for notes on pages of “%s” fit the window',
  async (sentence) => {
    const { pagesRead, requests } = await condenseBy((asked) => ({ content: note(asked) }), sentence.repeat(120))
    const counter = await loadCounter('OpenAI-compatible')
    for (const request of requests)
      expect(await counter.count(request)).toBeLessThanOrEqual(maxPromptTokens(CONTEXT_WINDOW))
    expect(pagesRead).toHaveLength(PAGES)
    const read = requests.flatMap((asked) => asked.match(new RegExp(sentence, 'g')) ?? [])
    expect(read.length).toBeGreaterThan(0.95 * 120 * PAGES)
  },
)

test('a page of Chinese text larger than the window is read in pieces', () => {
  const text = '租金每月一日支付。'.repeat(2_000)
  const groups = groupSources([page(1, text)], 9_600)
  expect(groups.map((group) => group.length)).toEqual(Array.from({ length: groups.length }, () => 1))
  expect(
    groups
      .flat()
      .map((piece) => piece.text)
      .join('') === text,
  ).toBe(true)
  expect(Math.max(...groups.flat().map((piece) => promptCharacters(piece.text)))).toBeLessThanOrEqual(9_600)
})
