import { expect, test } from 'vitest'
import { type DocxBlock, makeDocx } from '#test/make-docx.ts'
import { readDocument } from '#test/read-document.ts'

async function read(...made: Parameters<typeof makeDocx>) {
  const { pages, failure } = await readDocument(makeDocx(...made), 'a.docx')
  expect(failure).toBeUndefined()
  return { text: pages.map(({ text }) => text).join('\n\n'), blocks: pages[0]?.blocks ?? [] }
}

const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
const cell = (text: string, properties = '') =>
  `<w:tc><w:tcPr>${properties}</w:tcPr><w:p>${text === '' ? '' : run(text)}</w:p></w:tc>`
const row = (...cells: string[]) => `<w:tr>${cells.join('')}</w:tr>`

test('fields, ruby and words of another direction are read, and breaks keep words apart', async () => {
  const blocks: DocxBlock[] = [
    { xml: `${run('See ')}<w:fldSimple w:instr="REF x">${run('section 4')}</w:fldSimple>` },
    {
      xml: `<w:r><w:ruby><w:rubyPr/><w:rt>${run('とうきょう')}</w:rt><w:rubyBase>${run('東京')}</w:rubyBase></w:ruby></w:r>${run('に行く')}`,
    },
    { xml: `<w:bdo w:val="ltr">${run('left')}</w:bdo> <w:dir w:val="rtl">${run('שמאל')}</w:dir>` },
    {
      xml: '<w:r><w:t>first</w:t><w:br w:type="page"/><w:t>second</w:t><w:cr/><w:t>thi</w:t><w:softHyphen/><w:t>rd</w:t></w:r>',
    },
  ]
  expect((await read(blocks)).text).toBe('See section 4\n\n東京に行く\n\nleftשמאל\n\nfirst\nsecond\nthird')
})

test('a large first letter belongs to the word that it begins', async () => {
  const initial = (letter: string) =>
    `<w:pPr><w:keepNext/><w:framePr w:dropCap="drop" w:lines="3"/><w:rPr><w:sz w:val="112"/></w:rPr></w:pPr>${run(letter)}`
  const blocks: DocxBlock[] = [
    { paragraph: 'Before.' },
    { xml: initial('O') },
    { xml: `<w:pPr><w:jc w:val="both"/></w:pPr>${run('nce upon a time.')}` },
    { xml: initial('T') },
    { xml: run('hen they left.') },
  ]
  expect((await read(blocks)).text).toBe('Before.\n\nOnce upon a time.\n\nThen they left.')
})

test('text boxes are read once, in whichever form they are there', async () => {
  const box = (text: string) => `<w:txbxContent><w:p>${run(text)}</w:p></w:txbxContent>`
  const alternatives = (fallback: string) =>
    `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>${box('Keep dry')}</w:drawing></mc:Choice><mc:Fallback>${fallback}</mc:Fallback></mc:AlternateContent></w:r>`
  const old = `<w:pict><v:shape><v:textbox>${box('Keep dry')}</v:textbox></v:shape></w:pict>`
  const blocks: DocxBlock[] = [
    { xml: alternatives(old) },
    { paragraph: 'Between.' },
    { xml: alternatives('<w:pict/>') },
    { xml: `<w:r><w:drawing>${box('Alone')}</w:drawing></w:r>` },
  ]
  expect((await read(blocks)).text).toBe('Keep dry\n\nBetween.\n\nKeep dry\n\nAlone')
})

test('text boxes are read in whatever shape they stand, also beside a picture, and so is text that is drawn', async () => {
  const box = (content: string) => `<w:txbxContent>${content}</w:txbxContent>`
  const picture = '<w:r><w:drawing><wp:inline/></w:drawing></w:r>'
  const blocks: DocxBlock[] = [
    {
      xml: `<w:r><w:pict><v:oval><v:textbox>${box(`<w:p>${run('In an ellipse')}</w:p>`)}</v:textbox></v:oval></w:pict></w:r>`,
    },
    {
      xml: `<w:r><w:drawing>${box(`<w:p>${picture}${run('Figure 1')}</w:p><w:p>${run('Our mill')}</w:p>`)}</w:drawing></w:r>`,
    },
    {
      xml: `<w:r><w:drawing><a:p><a:r><a:t>Ste</a:t></a:r><a:r><a:t>p one</a:t></a:r></a:p><a:p/><a:p><a:r><a:t>Step two</a:t></a:r></a:p></w:drawing></w:r>`,
    },
    { paragraph: 'After.' },
  ]
  expect((await read(blocks)).text).toBe('In an ellipse\n\nFigure 1\n\nOur mill\n\nStep one\n\nStep two\n\nAfter.')
})

test('pictures say what they are described as, and not from which file they are', async () => {
  const picture = (description: string) =>
    `<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="${description}"/><a:graphic><pic:pic xmlns:pic="p"><pic:nvPicPr/></pic:pic></a:graphic></wp:inline></w:drawing></w:r>`
  const blocks = [
    { xml: `${run('Before ')}${picture('A mill &amp; its wheel&#xA;&#xA;Description automatically generated')}` },
    { xml: `${picture('C:\\Pictures\\mill.jpg')}${picture('mill.png')}${picture('')}${run('after')}` },
    { xml: picture('A cat on a wall. AI-generated content may be incorrect.') },
  ]
  expect((await read(blocks)).text).toBe('Before\n\nA mill & its wheel\n\nafter\n\nA cat on a wall.')
})

test('cells that span rows and columns keep the others in their columns', async () => {
  const table = `<w:tbl><w:tblPr/><w:tblGrid/>${[
    row(cell('Zone'), cell('Price', '<w:gridSpan w:val="2"/>'), cell('Note')),
    row(cell('North', '<w:vMerge w:val="restart"/>'), cell('4'), cell('2'), cell('a')),
    row(cell('', '<w:vMerge/>'), cell('5'), cell('3'), cell('b')),
    row(cell('South'), cell('6'), cell('7'), cell('c')),
  ].join('')}</w:tbl>`
  expect((await read([{ body: table }])).text).toBe(
    'Zone | Price |  | Note\nNorth | 4 | 2 | a\nNorth | 5 | 3 | b\nSouth | 6 | 7 | c',
  )
})

test('the document is found, with its headers, whatever its part is called', async () => {
  expect((await read([{ paragraph: 'Body.' }], { header1: 'Head of the page' }, {}, 'document2')).text).toBe(
    'Body.\n\nHead of the page',
  )
})

const level = (depth: number, format: string, text: string, more = '') =>
  `<w:lvl w:ilvl="${depth}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`
const numbering = `<w:numbering><w:abstractNum w:abstractNumId="7">${[
  level(0, 'upperRoman', 'Part %1', '<w:pStyle w:val="Clause"/>'),
  level(1, 'decimal', '%1.%2', '<w:isLgl/>'),
  level(2, 'lowerLetter', '(%3)'),
].join(
  '',
)}</w:abstractNum><w:abstractNum w:abstractNumId="8">${level(0, 'bullet', '•')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="2"><w:startOverride w:val="4"/></w:lvlOverride></w:num></w:numbering>`
const styles = `<w:styles><w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="Clause"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style><w:style w:type="paragraph" w:styleId="SubClause"><w:name w:val="Sub"/><w:basedOn w:val="Clause"/></w:style><w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style></w:styles>`
const item = (list: number, depth: number, text: string): DocxBlock => ({
  xml: `<w:pPr><w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${list}"/></w:numPr></w:pPr>${run(text)}`,
})
const styled = (style: string, text: string, more = ''): DocxBlock => ({
  xml: `<w:pPr><w:pStyle w:val="${style}"/>${more}</w:pPr>${run(text)}`,
})

test('headings and lists are numbered as the document counts them', async () => {
  const parts = { 'word/numbering.xml': numbering, 'word/styles.xml': styles }
  const blocks: DocxBlock[] = [
    styled('Clause', 'Scope'),
    item(1, 1, 'Pumps.'),
    item(1, 2, 'new'),
    item(1, 2, 'old'),
    item(2, 0, 'a point'),
    styled('SubClause', 'Price'),
    item(1, 1, 'Fixed.'),
    item(3, 2, 'from the fourth'),
    styled('Clause', 'No number', '<w:numPr><w:numId w:val="0"/></w:numPr>'),
    item(1, 1, 'Still fixed.'),
  ]
  expect((await read(blocks, {}, parts)).text.split(/\n+/)).toEqual([
    'Part I Scope',
    '1.1 Pumps.',
    '(a) new',
    '(b) old',
    'a point',
    'Part II Price',
    '2.1 Fixed.',
    '(d) from the fourth',
    'No number',
    '2.2 Still fixed.',
  ])
})

test('headings are told by their outline, of the paragraph or of its style', async () => {
  const blocks: DocxBlock[] = [
    styled('T', 'The title'),
    styled('SubClause', 'By its style'),
    { xml: `<w:pPr><w:outlineLvl w:val="2"/></w:pPr>${run('By itself')}` },
    { xml: `<w:pPr><w:outlineLvl w:val="9"/></w:pPr>${run('Only text')}` },
  ]
  const found = await read(blocks, {}, { 'word/styles.xml': styles })
  expect(found.blocks.map(({ kind, level: depth }) => [kind, depth])).toEqual([
    ['heading', 1],
    ['heading', 2],
    ['heading', 3],
    ['paragraph', undefined],
  ])
})

test('what a comment says stands behind the text', async () => {
  const relations =
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="c" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments" Target="comments.xml"/></Relationships>'
  const parts = {
    'word/_rels/document.xml.rels': relations,
    'word/comments.xml': `<w:comments><w:comment w:id="0" w:initials="AB"><w:p>${run('Is this agreed?')}</w:p></w:comment></w:comments>`,
  }
  const { text } = await read(
    [{ xml: `${run('The rent rises.')}<w:r><w:commentReference w:id="0"/></w:r>` }],
    {},
    parts,
  )
  expect(text).toContain('The rent rises.[AB1]')
  expect(text).toContain('[AB1] Is this agreed?')
})

test('footnotes and endnotes stand behind the text under the numbers that their places have', async () => {
  const relation = (kind: string) =>
    `<Relationship Id="${kind}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${kind}" Target="${kind}.xml"/>`
  const notes = (kind: string, text: string) =>
    `<w:${kind}s><w:${kind} w:id="1"><w:p>${run(text)}</w:p></w:${kind}></w:${kind}s>`
  const parts = {
    'word/_rels/document.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relation('footnotes')}${relation('endnotes')}</Relationships>`,
    'word/footnotes.xml': notes('footnote', 'Unless it is late.'),
    'word/endnotes.xml': notes('endnote', 'See the law.'),
  }
  const { text } = await read(
    [
      { xml: `${run('The rent rises.')}<w:r><w:footnoteReference w:id="1"/></w:r>` },
      { xml: `${run('It is due.')}<w:r><w:endnoteReference w:id="1"/></w:r>` },
    ],
    {},
    parts,
  )
  expect(text).toBe('The rent rises.[1]\n\nIt is due.[2]\n\n[1] Unless it is late.\n\n[2] See the law.')
})

test('hidden text is left out, and what only a paragraph mark hides is not', async () => {
  const hidden = (text: string, value = '') =>
    `<w:r><w:rPr><w:b/><w:vanish${value}/></w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
  const blocks: DocxBlock[] = [
    { xml: `${run('The price is ten euros.')}${hidden(' Below eight we do not go.')}${run(' It is final.')}` },
    { xml: `<w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>${run('Shown ')}${hidden('again', ' w:val="0"')}` },
  ]
  expect((await read(blocks)).text).toBe('The price is ten euros. It is final.\n\nShown again')
})

test('a table inside a cell is words of the cell, with no border of cells between them', async () => {
  const inner = `<w:tc><w:tbl>${row(cell('Part A'), cell('sea'))}${row(cell('Part B'), cell('land'))}</w:tbl><w:p/></w:tc>`
  const body = `<w:tbl>${row(cell('Item'), cell('Parts'), cell('Price;'))}${row(cell('Report'), inner, cell('5;'))}</w:tbl>`
  expect((await read([{ body }])).text).toBe('Item | Parts | Price;\nReport | Part A, sea; Part B, land | 5;')
})

test('signs of the fonts of symbols are those that they show', async () => {
  expect((await read([{ paragraph: '\uf0b7 one \uf0fe two \uf0ff' }])).text).toBe('• one ☑ two \uf0ff')
})

test('Greek letters in the font Symbol are letters, also where another font has a bullet in their place', async () => {
  const symbol = (text: string) =>
    `<w:r><w:rPr><w:i/><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/></w:rPr><w:t>${text}</w:t></w:r>`
  const xml = `${run('The length ')}${symbol('\uf06c')}${run(' of \uf06c and \uf061')}`
  expect((await read([{ xml }])).text).toBe('The length λ of ● and α')
})
