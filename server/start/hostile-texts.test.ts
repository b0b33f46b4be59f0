/**
 * Texts of people that the only thread reads, each in the size that its route admits and in the shape that its reader
 * likes least. A reader that takes more than proportional time needs minutes for one of them, and the test never ends.
 */
import { describe, expect, test } from 'vitest'
import type { PassageSource } from '#contract/source.ts'
import { findUnverified } from '#server/assistant/citations/check-claims.ts'
import { findMisquotes } from '#server/assistant/citations/check-quotations.ts'
import { focusSource } from '#server/assistant/citations/focus-source.ts'
import { createMarkerFilter } from '#server/assistant/citations/markers.ts'
import { holdsAnswer } from '#server/assistant/extractive/answer-kind.ts'
import { findLists } from '#server/assistant/extractive/lists.ts'
import { findPageBody } from '#server/assistant/extractive/page-edges.ts'
import { titleFromModel, titleFromQuestion } from '#server/assistant/titles/title-text.ts'
import { splitAddress } from '#server/assistant/tools/commands.ts'
import { jsonExcess, parseJson } from '#server/base/json.ts'
import { createSnippet } from '#server/conversations/snippet.ts'
import { parseFilters } from '#server/database/filter.ts'
import { describeBody } from '#server/providers/answered-error.ts'
import { createThinkSplitter } from '#server/providers/think-tags.ts'
import { nearestName } from '#server/rest/nearest-name.ts'
import { splitSentences } from '#server/search/text/split-sentences.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import { requireKey } from '#server/storage/names.ts'

const MESSAGE = 300_000
const UNITS = [' ', '\n', ' \n', '\t', '[', '[1] ', '[1](', '![a](', '`', '"a ', '“a', '>', '- ', '- a\n', '|', '*', '$', '.', '. ', 'a', 'a b ', '1', '1 ', '+1', '(', '2026 ', '12:3', '三', 'one ', '1.', '1,234 ', 'May 3 ', 'A ', 'Aa-', 'a@b.', '1/2/', '第一', '</think>', '`</think>', '<|end|>', '<!---->'] // prettier-ignore

/** The unit again and again, so that it neither ends in a match nor in an end of line. */
const hostile = (unit: string, length: number): string => `${unit.repeat(Math.floor(length / unit.length))}x`

const sourceOf = (text: string): PassageSource => ({
  n: 1,
  documentId: '00000000-0000-4000-8000-000000000000',
  filename: 'a.pdf',
  page: 1,
  start: 0,
  end: text.length,
  text,
  score: 1,
})

function filterMarkers(text: string): string {
  const filter = createMarkerFilter(new Set([1]))
  return filter.push(text) + filter.end()
}

function splitThoughts(text: string): void {
  createThinkSplitter().push(`<|channel|>${text}`)
  const splitter = createThinkSplitter()
  for (let from = 0; from < text.length; from += 8) splitter.push(text.slice(from, from + 8))
  splitter.end()
}

const findClaims = (answer: string, passage: string) =>
  findUnverified(answer, { numbers: new Set([1]), passageOf: () => ({ text: passage }), known: [passage] })

const READERS: readonly (readonly [name: string, length: number, read: (text: string) => unknown])[] = [
  ['the line of a found message', MESSAGE, (text) => createSnippet(text, ['a', 'b'])],
  ['the quotations of an answer', MESSAGE, (text) => findMisquotes(`[1] ${text}`, () => 'a source')],
  ['the source of a quotation', MESSAGE, (text) => findMisquotes('“aaaa … aaab” [1]', () => text)],
  ['the claims of an answer', MESSAGE, (text) => findClaims(`Rent 5 [1] ${text}`, 'a source')],
  [
    'the source of a claim',
    MESSAGE,
    (text) => findClaims('Anna Blum paid 5,432 EUR on 3 May 2024 [1].', text.slice(0, 99_000)),
  ],
  ['the part of a source that is cited', MESSAGE, (text) => focusSource(sourceOf(text), 'a b [1]', [4])],
  ['the sentence that cites', MESSAGE, (text) => focusSource(sourceOf('a b'), text, [text.length])],
  ['the markers of an answer', MESSAGE, filterMarkers],
  ['the sentences of a message', 100_000, splitSentences],
  ['the edges of a page', 100_000, (text) => findPageBody(text, 1, [{ page: 2, head: text, foot: text }])],
  ['the lists of a page', MESSAGE, findLists],
  ['the name that a page may hold', 100_000, (text) => holdsAnswer('person', text)],
  ['the address after @web', MESSAGE, splitAddress],
  ['a title by a model', MESSAGE, titleFromModel],
  ['a title from a question', MESSAGE, titleFromQuestion],
  ['filters of live changes', 8_192, (text) => parseFilters(`title=eq.${text}`)],
  ['the words of a question', MESSAGE, (text) => wordsOf(`1 ${text} 2026 a-${text}`)],
  ['the thoughts of an answer', MESSAGE, splitThoughts],
  ['an answer that is none', MESSAGE, (text) => describeBody(text, undefined)],
  ['JSON in a string', MESSAGE, (text) => parseJson(JSON.stringify([text]))],
  ['the nesting and numbers of JSON', MESSAGE, (text) => jsonExcess(JSON.stringify(text))],
]

describe.each(READERS)('%s', (_, length, read) => {
  test.each(UNITS)('is read in proportional time, for %j', (unit) => {
    expect(() => read(hostile(unit, length))).not.toThrow()
  })
})

test('what exceeds a bound is cut or refused', () => {
  const late = `${'x '.repeat(60_000)}needle`
  expect(createSnippet(late, ['needle']).some(({ is_hit: isHit }) => isHit)).toBe(false)
  const long = `“${'a'.repeat(6_000)}” [1]`
  expect(findMisquotes(long, () => 'something else')).toEqual([])
  expect(findMisquotes(`“${'a'.repeat(4_000)}” [1]`, () => 'something else')).toHaveLength(1)
  const many = Array.from({ length: 400 }, (_, n) => `“no such words ${n}” [1].`).join('\n\n')
  expect(findMisquotes(many, () => 'something else')).toHaveLength(300)
  expect(nearestName('a'.repeat(81), ['a'.repeat(80)])).toBeUndefined()
  expect(() => requireKey('a'.repeat(1_025))).toThrow('Invalid key')
  expect(() => parseJson(`${'['.repeat(501)}${']'.repeat(501)}`)).toThrow('nested too deeply')
})
