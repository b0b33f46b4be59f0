import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { textBlocks } from './text-blocks.ts'

function blocks(text: string, hardWrapped = false): [string, unknown][] {
  return textBlocks(text, { hardWrapped }).map((block) =>
    block.kind === 'table'
      ? ['table', block.rows.map((row) => row.map(({ start, end }) => text.slice(start, end)))]
      : [block.kind, text.slice(block.start, block.end)],
  )
}

describe('textBlocks', () => {
  test('sets a short line before longer text as a heading', () => {
    const body = 'The trustee shall keep the accounts of the estate and report on them once in every quarter.'
    expect(blocks(`Accounts and reports\n\n${body}\n\nShort end.`)).toEqual([
      ['heading', 'Accounts and reports'],
      ['paragraph', body],
      ['paragraph', 'Short end.'],
    ])
  })

  test('runs together the lines of a text file that were broken at a column', () => {
    const prose = [
      'Well, Prince, so Genoa and Lucca are now just family estates of the',
      'Buonapartes. But I warn you, if you do not tell me that this means war',
      'and go on defending it, I will have nothing more to do with you.',
    ].join('\n')
    expect(blocks(`\n${prose}\n\n${prose}\n`, true)).toEqual([
      ['flow', prose],
      ['flow', prose],
    ])
  })

  test('keeps the lines of a verse or of an address', () => {
    const verse = 'The woods are lovely,\ndark and deep,\nbut I have promises to keep'
    expect(blocks(verse, true)).toEqual([['paragraph', verse]])
  })

  test('cuts a table into rows and cells, whatever stands between the cells', () => {
    const rows = [
      ['Name', 'Sum'],
      ['Rent of the hall', '120'],
    ]
    expect(blocks('Name\tSum\nRent of the hall\t120')).toEqual([['table', rows]])
    expect(blocks('Name | Sum\nRent of the hall | 120')).toEqual([['table', rows]])
    expect(blocks('a |  | c\n | b | ')).toEqual([
      [
        'table',
        [
          ['a', '', 'c'],
          ['', 'b', ''],
        ],
      ],
    ])
  })

  test('keeps a title of one cell inside its table', () => {
    const rows = [['Claims'], ['Filed', '12'], ['Approved', '7']]
    expect(blocks('Claims\nFiled | 12\nApproved | 7')).toEqual([['table', rows]])
  })

  test('takes a single line with a bar, or one among others, for text', () => {
    expect(blocks('Terms | Conditions')).toEqual([['paragraph', 'Terms | Conditions']])
    expect(blocks('Terms | Conditions\nno bar in this one')).toEqual([
      ['paragraph', 'Terms | Conditions\nno bar in this one'],
    ])
  })

  test('loses nothing but white space and cell borders, in order and without overlap', () => {
    const word = fc.constantFrom('a', 'bc', ' ', '\n', '\n\n', '\t', ' | ', '  ', 'é', '😀')
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), fc.boolean(), (words, hardWrapped) => {
        const text = words.join('')
        let end = 0
        for (const block of textBlocks(text, { hardWrapped })) {
          for (const stretch of block.kind === 'table' ? block.rows.flat() : [block]) {
            expect(text.slice(end, stretch.start)).toMatch(/^[\s|]*$/)
            expect(stretch.end).toBeGreaterThanOrEqual(stretch.start)
            end = stretch.end
          }
        }
        expect(text.slice(end)).toMatch(/^[\s|]*$/)
      }),
    )
  })
})
