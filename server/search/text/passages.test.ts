import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitPassages } from './passages.ts'

const cut = (text: string) => splitPassages(text).map(({ start, end }) => text.slice(start, end))

test('a short text is one passage without the blanks around it', () => {
  expect(splitPassages('  A short note. \n')).toEqual([{ start: 2, end: 15 }])
  expect(splitPassages(' \n ')).toEqual([])
})

test('a long text is cut at the paragraph nearest to 1,000 characters', () => {
  const paragraph = 'Sentences of a paragraph. '.repeat(15).trim()
  const pieces = cut(Array.from({ length: 8 }, () => paragraph).join('\n\n'))
  expect(pieces.length).toBe(3)
  for (const piece of pieces) expect(piece.endsWith(paragraph) && piece.startsWith('Sentences')).toBe(true)
})

test('without paragraphs it is cut at sentences, Chinese ones too', () => {
  for (const piece of cut('One sentence follows another one. '.repeat(90))) expect(piece).toMatch(/^One.*\.$/)
  for (const piece of cut('这是一个句子。'.repeat(400))) expect(piece).toMatch(/^这.*。$/)
})

test('every character that is no blank is in exactly one passage, and pairs stay whole', () => {
  const texts = fc.array(
    fc.oneof(fc.string({ unit: 'binary' }), fc.lorem(), fc.constant('𝔸'.repeat(700)), fc.constant('\n\n')),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join(' ')
      const ranges = splitPassages(text)
      let last = 0
      for (const { start, end } of ranges) {
        expect(text.slice(last, start).trim()).toBe('')
        expect(end).toBeGreaterThan(start)
        expect(end - start).toBeLessThanOrEqual(1_400)
        last = end
      }
      expect(text.slice(last).trim()).toBe('')
      for (const { start, end } of ranges)
        if (text.isWellFormed()) expect(text.slice(start, end).isWellFormed()).toBe(true)
    }),
  )
})
