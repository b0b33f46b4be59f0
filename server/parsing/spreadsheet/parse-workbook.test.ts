import { describe, expect, test } from 'vitest'
import { createByteSource } from '#server/parsing/containers/byte-source.ts'
import { unpack } from '#server/parsing/containers/unpack.ts'
import { listZipEntries } from '#server/parsing/containers/zip-directory.ts'
import { readFaultFile } from '#test/fault-file.ts'
import { makeZip } from '#test/make-docx.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { readDocument } from '#test/read-document.ts'

const sales = [
  ['Region', 'Product', 'Sales'],
  ['North', 'Lamps', { v: 1234.5, z: '#,##0.00' }],
  [null, 'Chairs', { v: 0.163, z: '0.0%' }],
  ['South', 'Lamps', 7],
] as const

describe.each([['xlsx', 'xlsx'] as const, ['xls', 'biff8'] as const])('reading an %s', (extension, type) => {
  test('makes a page of each sheet, a line of each row, with the values as shown', async () => {
    const { pages } = await readDocument(
      makeWorkbook(
        [
          { name: 'Sales 2024', rows: sales, merges: ['A2:A3'] },
          { name: 'Nothing', rows: [] },
          { name: 'Notes', rows: [['Only one cell']] },
        ],
        type,
      ),
      `a.${extension}`,
    )
    expect(pages.map(({ page, text }) => [page, text])).toEqual([
      [
        1,
        'Sales 2024\n\nRegion | Product | Sales\nNorth | Lamps | 1,234.50\nNorth | Chairs | 16.3%\nSouth | Lamps | 7',
      ],
      [2, ''],
      [3, 'Notes\n\nOnly one cell'],
    ])
  })

  test('says where rows begin and which columns there are, and keeps sheet and column titles as headings', async () => {
    const rows = [['A list'], [], ['Name', null, 'Town'], ['Ann', null, 'Ulm'], ['Bob', null, 'Rom']]
    const { pages } = await readDocument(makeWorkbook([{ name: 'People', rows }], type), `a.${extension}`)
    const [{ text, headings, rows: found, columns } = { text: '', headings: [], rows: [], columns: [] }] = pages
    expect(columns).toEqual([1, 3])
    expect(found?.map(([offset, row]) => [text.slice(offset).split('\n')[0], row])).toEqual([
      ['A list', 1],
      ['Name | Town', 3],
      ['Ann | Ulm', 4],
      ['Bob | Rom', 5],
    ])
    expect(headings).toEqual([
      [0, 'People'],
      [text.indexOf('Name'), 'People: Name | Town'],
    ])
  })

  test('writes a date whose order depends on the country as year, month, day', async () => {
    const { pages } = await readDocument(
      makeWorkbook(
        [
          {
            name: 'Dates',
            rows: [
              ['Due', { v: 39_522, z: 'm/d/yy' }, { v: 39_522, z: 'd mmmm yyyy' }, { v: 39_522.75, z: 'm/d/yy h:mm' }],
            ],
          },
        ],
        type,
      ),
      `a.${extension}`,
    )
    expect(pages[0]?.text).toBe('Dates\n\nDue | 2008-03-15 | 15 March 2008 | 2008-03-15 18:00')
  })

  test('reads words that their format hides', async () => {
    const rows = [['Key', { v: 'InsertRow', z: ';;;' }, { v: 7, z: ';;;' }, 'End']]
    const { pages } = await readDocument(makeWorkbook([{ name: 'Form', rows }], type), `a.${extension}`)
    expect(pages[0]?.text).toBe('Form\n\nKey | InsertRow | End')
  })

  test('writes dates with bare full stops, and long numbers to the last digit', async () => {
    const rows = [
      [
        { v: 46_090, z: 'dd.mm.yyyy' },
        { v: 46_090, z: 'd. mmmm yyyy' },
        { v: 46_090.5, z: 'dd.mm.yy hh:mm' },
      ],
      [4_006_381_333_931, 1_234_567_890_123_456, -12_345_678_901, 0.25],
    ]
    const { pages } = await readDocument(makeWorkbook([{ name: 'Goods', rows }], type), `a.${extension}`)
    expect(pages[0]?.text).toBe(
      'Goods\n\n09.03.2026 | 9. March 2026 | 09.03.26 12:00\n4006381333931 | 1234567890123460 | -12345678901 | 0.25',
    )
  })
})

async function titlesOf(rows: Parameters<typeof makeWorkbook>[0][number]['rows']) {
  const { pages } = await readDocument(makeWorkbook([{ name: 'S', rows }], 'xlsx'), 'a.xlsx')
  const [{ text, headings, blocks } = { text: '', headings: [], blocks: [] }] = pages
  const tables = (blocks ?? []).filter(({ kind }) => kind === 'table')
  return {
    heads: tables.map(({ start, headerEnd = start }) => text.slice(start, headerEnd)),
    headings: (headings ?? []).map(([, heading]) => heading),
  }
}

describe('column titles', () => {
  test('of several rows are one head, although an empty row parts them from the amounts', async () => {
    const rows = [
      ['In millions', null, 'Half-year'],
      [null, 'Sales (a)', 'Profit'],
      [],
      ['Coffee', 31, 6],
      ['Pets', 93, 19],
    ]
    expect(await titlesOf(rows)).toEqual({
      heads: ['In millions |  | Half-year\n | Sales (a) | Profit'],
      headings: ['S', 'S: In millions | Half-year | Sales (a) | Profit'],
    })
  })

  test('stand between a caption and units, and may be years', async () => {
    const caption = 'Production and exports of all the countries that are eligible for import'
    const rows = [
      [caption, null, 'Producers'],
      ['Country', 2005, 2006],
      [null, 'tons', 'tons'],
      ['Austria', 88.8, 10],
    ]
    expect(await titlesOf(rows)).toEqual({
      heads: [`${caption} |  | Producers\nCountry | 2005 | 2006\n | tons | tons`],
      headings: ['S', 'S: Producers | Country | 2005 | 2006 | tons'],
    })
  })

  test('are one row where the rows below name something as well', async () => {
    const rows = [
      ['Name', 'Town'],
      ['Ann', 'Ulm'],
      ['Bob', 'Rom'],
      ['Number', 2],
    ]
    expect(await titlesOf(rows)).toEqual({ heads: ['Name | Town'], headings: ['S', 'S: Name | Town'] })
  })

  test('serve the groups of rows below one empty row, and no table of other columns', async () => {
    const rows = [
      ['Place', 'Share', 'Number'],
      ['Europe', 0.5, 50],
      ['London', 0.42, 42],
      [],
      ['Asia'],
      ['Tokyo', 0.14, 14],
      [],
      [null, null, 7, 8],
      [],
      [],
      ['Total', 1, 100],
    ]
    const { pages } = await readDocument(makeWorkbook([{ name: 'S', rows }]), 'a.xlsx')
    const [{ text, blocks } = { text: '' }] = pages
    const tables = (blocks ?? []).filter(({ kind }) => kind === 'table')
    expect(tables.map(({ start, end }) => text.slice(start, end))).toEqual([
      'Place | Share | Number\nEurope | 0.5 | 50\nLondon | 0.42 | 42\n\nAsia\nTokyo | 0.14 | 14',
      ' |  | 7 | 8',
      'Total | 1 | 100',
    ])
  })

  test('are none where a table begins with its amounts', async () => {
    expect(
      await titlesOf([
        ['Ann', 23, 'Ulm'],
        ['Bob', 31, 'Rom'],
      ]),
    ).toEqual({ heads: [''], headings: ['S'] })
  })
})

test('comments stand behind the value of their cell', async () => {
  const rows = [['Rent', 700]]
  const comments = { B1: 'Ana:\nincludes heating', A3: 'Nothing here yet' }
  const { pages } = await readDocument(makeWorkbook([{ name: 'Costs', rows, comments }]), 'a.xlsx')
  expect(pages[0]?.text).toBe('Costs\n\nRent | 700 [Ana: includes heating]\n\n[Nothing here yet]')
})

const textOf = async (bytes: Buffer, name = 'a.xlsx') => (await readDocument(bytes, name)).pages.map(({ text }) => text)

test('a formula without a stored result is computed, or shown if it cannot be', async () => {
  const rows = [
    ['Oil', 3],
    ['Wicks', 4],
    ['Total', { f: 'SUM(B1:B2)' }],
    ['Today', { f: 'NOW()' }],
    ['Share', { f: 'B1/Sums!B3' }],
  ]
  expect(await textOf(makeWorkbook([{ name: 'Sums', rows }]))).toEqual([
    'Sums\n\nOil | 3\nWicks | 4\nTotal | 7\nToday | =NOW()\nShare | 0.428571429',
  ])
})

describe('files that report generators write', () => {
  test('counts have no currency', async () =>
    expect(await textOf(readFaultFile('xlsx-report-server-counts.xlsx'))).toEqual([
      'Data\n\nMuseum | Visitors in May\nHornby | 7\nShare | 12.50%\nArea | 1,234.50\nDay | 6/15/2023\nGewicht | 1.234,50\nFee | $99.00',
    ]))

  test('formulas without results are computed', async () =>
    expect(await textOf(readFaultFile('xlsx-openpyxl-formulas.xlsx'))).toEqual([
      'Costs\n\nItem | Price | Pieces | Sum\nLamp | 12.5 | 4 | 50\nWick | 0.8 | 90 | 72\nTotal |  |  | 122\n\nOrder the lamp here (https://example.org/lamp)\nDelivery within 12 days',
    ]))

  test('no cell has a value that was never stored', async () => {
    const [text = ''] = await textOf(readFaultFile('xlsx-formulas-without-values.xlsx'))
    expect(text).not.toContain('FALSE')
    expect(text.split('\n').slice(2)).toEqual([
      ...['no v | 0', 'empty v | 0', 'v slash | 0', 'str no v | str no v', 'str empty v | no vempty v', 'bad'],
      ...['shared master | #VALUE!', 'shared slave | #VALUE!', 'n no v | 2', 'b no v | TRUE', 'zero | 0'],
    ])
  })

  test('formats of other languages are followed', async () => {
    const [text = ''] = await textOf(readFaultFile('xlsx-formats.xlsx'))
    for (const shown of [
      '2023年6月15日 | 31',
      'R5.6.15 | 57',
      '令和5年6月15日 | 164',
      '1.234,50 € | 167',
      '₹ 12,34,567.80 | 185',
    ])
      expect(text).toContain(shown)
  })
})

const sheetXml = (rows: string) =>
  `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows}</sheetData></worksheet>`

async function withSheet(rows: string): Promise<Buffer> {
  const parts = await partsOf(makeWorkbook([{ name: 'S', rows: [['x']] }]))
  return makeZip(
    parts.map((part) =>
      part.name === 'xl/worksheets/sheet1.xml' ? { ...part, bytes: Buffer.from(sheetXml(rows)) } : part,
    ),
  )
}

test.each([
  [
    'a boolean without a value',
    '<c r="A1" t="b"/><c r="B1" t="b"><v></v></c><c r="C1" t="b"><v>0</v></c>',
    'S\n\nFALSE',
  ],
  ['an error without a value', '<c r="A1" t="e"><f>1/0</f></c><c r="B1" t="e"><v>#N/A</v></c>', 'S\n\n#DIV/0! | #N/A'],
  ['a stored empty text', '<c r="A1" t="str"><f>Unknown("")</f><v></v></c><c r="B1"><f>1+1</f><v>2</v></c>', 'S\n\n2'],
  ['an empty text in a file without results', '<c r="A1" t="str"><f>Unknown("")</f><v></v></c>', 'S\n\n=Unknown("")'],
  ['a stored result', '<c r="A1"><f>1+1</f><v>3</v></c>', 'S\n\n3'],
])('%s is read as what the file says', async (_, row, text) =>
  expect(await textOf(await withSheet(`<row r="1">${row}</row>`))).toEqual([text]),
)

test('the address of a linked cell follows its words', async () => {
  const parts = await partsOf(
    makeWorkbook([{ name: 'S', rows: [['Order form', 'https://example.org/b/', 'Top', 'Map']] }]),
  )
  const links = ['A1', 'B1', 'D1'].map((cell, index) => `<hyperlink ref="${cell}" r:id="rId${index + 1}"/>`).join('')
  const targets = ['https://example.org/a?x=1&amp;y=2', 'https://example.org/b', 'javascript:alert(1)']
  const relations = targets.map(
    (target, index) =>
      `<Relationship Id="rId${index + 1}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="${target}" TargetMode="External"/>`,
  )
  const file = makeZip([
    ...parts.map((part) =>
      part.name === 'xl/worksheets/sheet1.xml'
        ? {
            ...part,
            bytes: Buffer.from(
              part.bytes
                .toString()
                .replace(
                  '</sheetData>',
                  `</sheetData><hyperlinks>${links}<hyperlink ref="C1" location="S!A1"/></hyperlinks>`,
                ),
            ),
          }
        : part,
    ),
    {
      name: 'xl/worksheets/_rels/sheet1.xml.rels',
      bytes: Buffer.from(
        `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.join('')}</Relationships>`,
      ),
    },
  ])
  expect(await textOf(file)).toEqual([
    'S\n\nOrder form (https://example.org/a?x=1&y=2) | https://example.org/b/ | Top | Map',
  ])
})

test('the address that HYPERLINK leads to follows its words, once', async () => {
  const rows = [
    [
      { f: 'HYPERLINK("https://example.org/a","Order here")' },
      { f: 'HYPERLINK("https://example.org/b")' },
      { f: 'HYPERLINK("mailto:ann@example.org?subject=x","Write to Ann")' },
      { f: 'HYPERLINK("#S!A1","Top")' },
      { f: 'IF(1=1,HYPERLINK("javascript:alert(1)","Never"),"")' },
    ],
  ]
  expect(await textOf(makeWorkbook([{ name: 'S', rows }]))).toEqual([
    'S\n\nOrder here (https://example.org/a) | https://example.org/b | Write to Ann (ann@example.org) | Top | Never',
  ])
})

test('a sheet that claims to be huge costs what its cells cost', async () => {
  const far = makeWorkbook([{ name: 'Far', rows: [['here'], ...Array.from({ length: 60_000 }, () => []), ['there']] }])
  const { pages } = await readDocument(far, 'far.xlsx')
  expect(pages[0]?.text).toBe('Far\n\nhere\n\nthere')
  expect(pages[0]?.rows?.at(-1)?.[1]).toBe(60_002)
})

test('a sheet of more text than is kept is cut, and says so', async () => {
  const { pages } = await readDocument(
    makeWorkbook([{ name: 'Long', rows: Array.from({ length: 250 }, () => ['x'.repeat(30_000)]) }]),
    'long.xlsx',
  )
  expect(pages[0]?.isCut).toBe(true)
  expect(pages[0]?.text.length).toBeGreaterThan(3_900_000)
  expect(pages[0]?.text.length).toBeLessThan(4_000_001)
})

test('what declares more than it may unpack to is refused', async () => {
  const bomb = makeZip([
    { name: '[Content_Types].xml', bytes: Buffer.from('<Types/>') },
    { name: 'xl/workbook.xml', bytes: Buffer.from('<workbook/>'), declaredSize: 200 * 1024 * 1024 },
  ])
  expect(await readDocument(bomb, 'bomb.xlsx')).toMatchObject({ failure: 'too_large' })
})

async function partsOf(workbook: Buffer) {
  const entries = (await listZipEntries(createByteSource(workbook))) ?? []
  return entries.map((entry) => ({ name: entry.name, bytes: Buffer.from(unpack(workbook, entry)) }))
}

test('what stands in text boxes is read below the cells of its sheet, whole where there are none', async () => {
  const made = makeWorkbook([
    { name: 'Stock', rows: [['Item', 'Count']] },
    { name: 'Read me', rows: [] },
  ])
  const parts = await partsOf(made)
  const box = (...lines: string[]) =>
    `<xdr:sp><xdr:txBody>${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('')}</xdr:txBody></xdr:sp>`
  const drawing = (number: number, content: string) => [
    {
      name: `xl/worksheets/_rels/sheet${number}.xml.rels`,
      bytes: Buffer.from(
        `<Relationships><Relationship Id="rId9" Type="http://x/relationships/drawing" Target="../drawings/drawing${number}.xml"/></Relationships>`,
      ),
    },
    { name: `xl/drawings/drawing${number}.xml`, bytes: Buffer.from(`<xdr:wsDr>${content}</xdr:wsDr>`) },
  ]
  const file = makeZip([
    ...parts,
    ...drawing(1, box('Counted on Friday', 'by R &amp; D') + box('') + box('Without returns')),
    ...drawing(2, box('Fill in the yellow cells')),
  ])
  const { pages } = await readDocument(file, 'a.xlsx')
  expect(pages.map(({ text }) => text)).toEqual([
    'Stock\n\nItem | Count\n\nCounted on Friday\nby R & D\n\nWithout returns',
    'Read me\n\nFill in the yellow cells',
  ])
  expect(pages.map(({ blocks = [] }) => blocks.map(({ kind }) => kind))).toEqual([
    ['heading', 'table', 'paragraph', 'paragraph'],
    ['heading', 'paragraph'],
  ])
  expect(pages[1]?.gap).toBeUndefined()
})

test('a workbook that declares styles and has none is read without them', async () => {
  const parts = await partsOf(makeWorkbook([{ name: 'Stock', rows: [['Lamps', 7]] }]))
  const file = makeZip(parts.filter(({ name }) => name !== 'xl/styles.xml'))
  const { pages, failure } = await readDocument(file, 'a.xlsx')
  expect({ failure, texts: pages.map(({ text }) => text) }).toEqual({
    failure: undefined,
    texts: ['Stock\n\nLamps | 7'],
  })
})

test.each(['', 'book/'])('a workbook whose parts lie in "%s" is read', async (folder) => {
  const parts = await partsOf(makeWorkbook([{ name: 'Stock', rows: [['Lamps', 7]] }]))
  const moved = parts.map(({ name, bytes }) => ({
    name: name.replace(/^xl\//, folder),
    bytes: /^(?:\[Content_Types\]\.xml|_rels\/\.rels)$/.test(name)
      ? Buffer.from(bytes.toString().replaceAll(/(?<=")(\/?)xl\//g, `$1${folder}`))
      : bytes,
  }))
  const { pages, failure } = await readDocument(makeZip(moved), 'a.xlsx')
  expect({ failure, texts: pages.map(({ text }) => text) }).toEqual({
    failure: undefined,
    texts: ['Stock\n\nLamps | 7'],
  })
})

/** Marks a stored part as deflated (APPNOTE.TXT 4.3.7, 4.3.12). */
function callDeflated(zip: Buffer, name: string): Buffer {
  zip.writeUInt16LE(8, zip.indexOf(name) - 22)
  zip.writeUInt16LE(8, zip.lastIndexOf(name) - 36)
  return zip
}

test('parts that are no deflated bytes, though they are said to be, cost nothing but themselves', async () => {
  const made = makeWorkbook([{ name: 'Stock', rows: [['Lamps']] }])
  const parts = await partsOf(made)
  const thumbnail = { name: 'docProps/thumbnail.wmf', bytes: Buffer.alloc(0) }
  const settings = { name: 'customXml/item1.xml', bytes: Buffer.alloc(0) }
  const withEmpty = callDeflated(callDeflated(makeZip([...parts, thumbnail, settings]), thumbnail.name), settings.name)
  expect((await readDocument(withEmpty, 'a.xlsx')).pages.map(({ text }) => text)).toEqual(['Stock\n\nLamps'])
  const withoutSheet = callDeflated(makeZip(parts), 'xl/worksheets/sheet1.xml')
  expect(await readDocument(withoutSheet, 'a.xlsx')).toEqual({ pages: [], failure: 'damaged' })
})
