import { describe, expect, test } from 'vitest'
import { encryptAgile, encryptStandard, encryptWorkbook, OLD_SCHEMES } from '#test/encrypt-workbook.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { readDocument } from '#test/read-document.ts'

const DEFAULT = 'VelvetSweatshop'
const rows = Array.from({ length: 200 }, (_, index) => [`Lamp ${index + 1} of the north`, index + 0.5])
const sheets = [
  { name: 'Stock of lamps', rows },
  { name: 'Notes', rows: [['Counted on Friday']] },
]
const texts = [`Stock of lamps\n\n${rows.map((row) => row.join(' | ')).join('\n')}`, 'Notes\n\nCounted on Friday']

describe.each(Object.entries(OLD_SCHEMES))('an old workbook in %s', (_, scheme) => {
  test('opens with the password that Excel gives it', async () => {
    const file = encryptWorkbook(makeWorkbook(sheets, 'biff8'), scheme(DEFAULT))
    const { pages, failure } = await readDocument(file, 'a.xls')
    expect({ failure, texts: pages.map(({ text }) => text) }).toEqual({ failure: undefined, texts })
  })
})

test.each(['RC4', 'RC4 CryptoAPI of 128 bits'] as const)(
  'an old workbook in %s fails with another password',
  async (name) => {
    const file = encryptWorkbook(makeWorkbook(sheets, 'biff8'), OLD_SCHEMES[name]('another'))
    expect(await readDocument(file, 'a.xls')).toEqual({ pages: [], failure: 'encrypted' })
  },
)

test('an old workbook in XOR obfuscation fails with another password', async () => {
  const filePass = Buffer.from('0000511a4acc', 'hex')
  const file = encryptWorkbook(makeWorkbook(sheets, 'biff8'), { ...OLD_SCHEMES['XOR obfuscation'](), filePass })
  expect(await readDocument(file, 'a.xls')).toEqual({ pages: [], failure: 'encrypted' })
})

describe.each([
  ['standard', encryptStandard],
  ['agile', encryptAgile],
] as const)('a new workbook in %s encryption', (_, encrypt) => {
  test('opens with the password that Excel gives it', async () => {
    const { pages, failure } = await readDocument(encrypt(makeWorkbook(sheets), DEFAULT), 'a.xlsx')
    expect({ failure, texts: pages.map(({ text }) => text) }).toEqual({ failure: undefined, texts })
  })

  test('fails with another password', async () => {
    const file = encrypt(makeWorkbook(sheets), 'another')
    expect(await readDocument(file, 'a.xlsx')).toEqual({ pages: [], failure: 'encrypted' })
  })
})

test('a workbook that asks for more work than Excel ever does is not tried', async () => {
  const file = encryptAgile(makeWorkbook(sheets), DEFAULT, 2 ** 32 - 1)
  expect(await readDocument(file, 'a.xlsx')).toEqual({ pages: [], failure: 'encrypted' })
})
