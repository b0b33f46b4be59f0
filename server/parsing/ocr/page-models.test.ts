import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DOCUMENT_LANGUAGES } from '#contract/document.ts'
import { modelsForLanguage, modelsForScript, modelsForText } from './page-models.ts'
import { modelPath } from './tesseract.ts'

test.each(DOCUMENT_LANGUAGES)('%s can be read', (language) => {
  expect(modelsForLanguage(language).map(modelPath).filter(existsSync)).toHaveLength(modelsForLanguage(language).length)
})

test.each([
  ['ces', 'Operacni system se sklada z rady zakladnich programu, ktere potrebuje kazdy pocitac, aby byl vubec schopen'],
  ['tur', 'Sayin sakinler, bu yil binamizin asansoru uc hafta icin kapali olacak ve onarim daha sonra da surebilir'],
  ['por', 'O elevador nao sera usado ate marco, e as obras vao demorar tres semanas para os que moram no predio'],
  ['vie', 'Thang may cua toa nha se dong cua trong ba tuan va nguoi trong nha khong the dung no cho den khi nay'],
])('the words of %s tell it, although their accents are lost', (language, text) => {
  expect(modelsForText(text)).toEqual([language, 'eng'])
})

test('ignores a few English words in another script', () => {
  const text = '在圖形環境中，你可以使用 the terminal of the system 進入基於字元的登入提示符，並且繼續安裝其餘的軟體'
  expect(modelsForText(text)).toBeUndefined()
})

test('chooses the models of the languages written in a script', () => {
  expect(modelsForScript('Cyrillic')).toMatchObject({ likeliest: ['rus', 'eng'], others: [['ukr', 'eng']] })
  expect(modelsForScript('Latin')).toBeUndefined()
})

test("English reads first if the page's own model would leave no words for it", () => {
  expect(modelsForLanguage('ell')).toEqual(['eng', 'ell'])
})
