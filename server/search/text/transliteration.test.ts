import { expect, test } from 'vitest'
import { bareForms, consonantKeys, foreignNamesIn, romanise, scriptOf, soundSimilarity } from './transliteration.ts'

function compare(word: string, other: string): { areAlike: boolean; similarity: number } {
  const [script, otherScript] = [scriptOf(word), scriptOf(other)]
  if (!script || !otherScript) throw new Error('no script')
  const against = romanise(other, otherScript)
  const romans = bareForms(word, script).map((form) => romanise(form, script))
  const areAlike = romans.some((roman) => !consonantKeys(roman).isDisjointFrom(consonantKeys(against)))
  return { areAlike, similarity: Math.max(...romans.map((roman) => soundSimilarity(roman, against))) }
}

test.each([
  ['ростов', 'rostov'],
  ['долохову', 'dolokhov'],
  ['вашингтоне', 'washington'],
  ['гамбург', 'hamburg'],
  ['джеймс', 'james'],
  ['хаксли', 'huxley'],
  ['αριστοτέλης', 'aristoteles'],
  ['أينشتاين', 'einstein'],
  ['نيوتن', 'newton'],
  ['ナポレオン', 'napoleon'],
  ['ファラデー', 'faraday'],
  ['データベース', 'database'],
  ['나폴레옹은', 'napoleon'],
  ['워싱턴', 'washington'],
  ['华盛顿', 'washington'],
  ['特斯拉', 'tesla'],
  ['卡罗来纳', 'carolina'],
  ['washington', 'вашингтон'],
])('%s and %s are one name', (word, other) => {
  const { areAlike, similarity } = compare(word, other)
  expect(areAlike).toBe(true)
  expect(similarity).toBeGreaterThan(0.7)
})

test.each([
  ['ростов', 'boston'],
  ['лондон', 'berlin'],
  ['ワシントン', 'boston'],
  ['أينشتاين', 'newton'],
  ['华盛顿', 'wellington'],
])('%s and %s are not', (word, other) => {
  expect(compare(word, other).areAlike).toBe(false)
})

test('a word of several scripts has none, and neither has one of signs', () => {
  expect(scriptOf('бmw')).toBeUndefined()
  expect(scriptOf('2019')).toBeUndefined()
  expect(scriptOf('ひらがな')).toBeUndefined()
})

test('readings of a word are bounded', () => {
  expect(consonantKeys('jchghkhwj'.repeat(20)).size).toBeLessThanOrEqual(12)
})

test('foreign names are runs of the characters that write them', () => {
  expect(foreignNamesIn('尼古拉·特斯拉是哪一年去的?')).toEqual(['尼古拉', '特斯拉'])
})
