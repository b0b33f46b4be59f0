import { expect, test } from 'vitest'
import { isGarbledPage } from './garbled-text.ts'

const english = 'The notice period is three months and begins at the end of the quarter in which it was given. '.repeat(
  3,
)
/** A font without its map shifts every character down by 29. */
const shifted = Array.from(english, (character) => String.fromCharCode(character.charCodeAt(0) - 29)).join('')

test.each([
  ['letters that are others', shifted],
  ['letters without vowels', english.replaceAll(/[aeiou]/g, 'x')],
  ['characters of private use', 'Terms \ue001\ue002\ue003\ue004\ue005'],
])('%s are garbled', (_name, str) => {
  expect(isGarbledPage([{ str, fontName: 'a' }])).toBe(true)
})

test.each([
  ['English', english],
  [
    'Polish',
    'Badanie z udziałem ponad 800 ochotników wykazało, że zmiana rytmu snu prowadzi do rozregulowania. '.repeat(2),
  ],
  ['Korean', '제1급감염병이란 생물테러감염병 또는 치명률이 높거나 집단 발생의 우려가 큰 감염병을 말한다. '.repeat(4)],
  ['figures', '1,582 1,537 1,139 12.5% '.repeat(30)],
  ['a form without its names', `Insured XXXXXXX XXXXXXXXXXXX Address XXXXXXXXXX XXXXXX Policy XXXXXXXX `.repeat(5)],
  ['nothing', ''],
])('%s is not', (_name, str) => {
  expect(isGarbledPage([{ str, fontName: 'a' }])).toBe(false)
})

test('one broken font is enough if it sets much text, but not for a symbol', () => {
  const good = { str: english, fontName: 'good' }
  expect(isGarbledPage([good, { str: shifted, fontName: 'broken' }])).toBe(true)
  expect(isGarbledPage([good, { str: '\uf0b7', fontName: 'symbols' }])).toBe(false)
})
