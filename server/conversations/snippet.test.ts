import { describe, expect, test } from 'vitest'
import { createSnippet } from './snippet.ts'

/** The snippet with its hits in brackets. */
const marked = (content: string, ...words: string[]): string =>
  createSnippet(content, words)
    .map(({ text, is_hit: isHit }) => (isHit ? `[${text}]` : text))
    .join('')

describe('a snippet', () => {
  test('marks every word at any position', () => {
    expect(marked('The lamp stands beside the lampshade', 'lamp', 'side')).toBe(
      'The [lamp] stands be[side] the [lamp]shade',
    )
  })

  test('marks variants in case, accents and compatibility forms', () => {
    expect(marked('Café CAFE\u0301 Straße ﬁn Ｗｉｄｅ', 'cafe', 'fi', 'wide')).toBe(
      '[Café] [CAFE\u0301] Straße [ﬁ]n [Ｗｉｄｅ]',
    )
    expect(marked('Η ΟΔΟΣ και η οδός', 'οδοσ')).toBe('Η [ΟΔΟΣ] και η [οδός]')
    expect(marked('كِتَابٌ جديد', 'كتاب')).toBe('[كِتَابٌ] جديد')
  })

  test('marks unspaced scripts, and an incomplete syllable', () => {
    expect(marked('図書館で本を読む', '本を')).toBe('図書館で[本を]読む')
    expect(marked('한국어 문서', '하')).toBe('[한]국어 문서')
  })

  test('leaves out Markdown signs and source numbers', () => {
    expect(marked('## Terms\n\n**Notice** is `three` months [1], see [the page](https://example.test)', 'notice')).toBe(
      'Terms [Notice] is three months, see the page',
    )
    expect(marked('*These are the words of **others***, 2 * 3 * 4, a*b', 'words')).toBe(
      'These are the [words] of others, 2 * 3 * 4, a*b',
    )
    expect(marked('> 2\\. The words \\[of others\\] \\| a\\_b', 'words')).toBe('2. The [words] [of others] a_b')
  })

  test('shows the part with most of the words, cut between words', () => {
    const filler = 'and so it goes on and on '.repeat(20)
    const found = marked(`alpha ${filler}beta then alpha ${filler}`, 'alpha', 'beta')
    expect(found).toMatch(/^… .*\[beta\] then \[alpha\].*…$/)
    expect(found.length).toBeLessThan(200)
  })

  test('merges hits that overlap', () => {
    expect(marked('banana', 'ana', 'nan')).toBe('b[anan]a')
  })

  test('shows the beginning where the words occur only in text that is left out', () => {
    expect(marked('See [here](https://example.test/lamp)', 'lamp')).toBe('See here')
  })

  test('stays short for a long message with many hits', () => {
    expect(marked('e'.repeat(200_000), 'e').length).toBeLessThan(1_000)
  })
})
