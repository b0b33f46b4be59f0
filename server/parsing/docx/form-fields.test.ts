import { expect, test } from 'vitest'
import { readFaultFile } from '#test/fault-file.ts'
import { makeDoc } from '#test/make-doc.ts'
import { makeDocx } from '#test/make-docx.ts'
import { readDocument } from '#test/read-document.ts'
import { writeFormValues } from './form-fields.ts'

const read = async (bytes: Uint8Array, name: string) =>
  (await readDocument(bytes, name)).pages.map(({ text }) => text).join('\n\n')

const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
const mark = (type: string, inside = '') => `<w:r><w:fldChar w:fldCharType="${type}">${inside}</w:fldChar></w:r>`
const field = (instruction: string, data: string, result?: string) =>
  `${mark('begin', data === '' ? '' : `<w:ffData>${data}</w:ffData>`)}<w:r><w:instrText> ${instruction} </w:instrText></w:r>${
    result === undefined ? '' : mark('separate') + run(result)
  }${mark('end')}`
const doors = '<w:listEntry w:val="Red &amp; white"/><w:listEntry w:val="Green door"/>'
const control = (properties: string, content = '') =>
  `<w:sdt><w:sdtPr>${properties}</w:sdtPr><w:sdtContent>${content}</w:sdtContent></w:sdt>`
const items = '<w:listItem w:displayText="In spring" w:value="q1"/><w:listItem w:displayText="In autumn" w:value="q3"/>'

test.each([
  [
    'the chosen entry of a list',
    field('FORMDROPDOWN', `<w:ddList><w:result w:val="1"/>${doors}</w:ddList>`),
    'Green door',
  ],
  ['its first entry without a choice', field('FORMDROPDOWN', `<w:ddList>${doors}</w:ddList>`), 'Red & white'],
  ['its default', field('FORMDROPDOWN', `<w:ddList><w:default w:val="1"/>${doors}</w:ddList>`), 'Green door'],
  [
    'an entry that is also the result, once',
    field('FORMDROPDOWN', `<w:ddList><w:result w:val="1"/>${doors}</w:ddList>`, 'Green door'),
    'Green door',
  ],
  ['typed words', field('FORMTEXT', '<w:textInput><w:default w:val="name"/></w:textInput>', 'Ann'), 'Ann'],
  ['words to type over', field('FORMTEXT', '<w:textInput><w:default w:val="name"/></w:textInput>'), 'name'],
  ['a ticked box', field('FORMCHECKBOX', '<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>'), '☒'],
  ['an empty box', field('FORMCHECKBOX', '<w:checkBox><w:default w:val="0"/></w:checkBox>'), '☐'],
  [
    'the shown entry of a control',
    control(`<w:dropDownList w:lastValue="q1">${items}</w:dropDownList>`, run('In autumn')),
    'In autumn',
  ],
  [
    'the stored entry of an empty one',
    control(`<w:dropDownList w:lastValue="q3">${items}</w:dropDownList>`),
    'In autumn',
  ],
  [
    'what was typed into a combined one',
    control(`<w:comboBox w:lastValue="never">${items}</w:comboBox>`, '<w:r/>'),
    'never',
  ],
  ['the date of an empty control', control('<w:date w:fullDate="2026-03-01T00:00:00Z"/>'), '2026-03-01'],
  ['a control with a tick', control('<w14:checkbox><w14:checked w14:val="1"/></w14:checkbox>'), '☒'],
])('%s is read', async (_, xml, text) =>
  expect(await read(makeDocx([{ xml: `${run('Choice: ')}${xml}` }]), 'a.docx')).toBe(`Choice: ${text}`),
)

test('a value that looks like a replacement pattern stays as it is', () => {
  const chosen = '<w:comboBox w:lastValue="US$\'000">x</w:comboBox>'
  expect(writeFormValues(control(chosen, '<w:p></w:p>'))).toContain(
    `<w:p><w:r><w:t xml:space="preserve">US$'000</w:t></w:r></w:p>`,
  )
})

test('controls of millions of characters are passed over in time', () => {
  const long = 'a'.repeat(12_000_000)
  const started = performance.now()
  for (const xml of [control(long), control('', long), control('<w:x/>', '<w:sdtPr>'.repeat(1_000_000))])
    expect(writeFormValues(xml) === xml).toBe(true)
  expect(performance.now() - started).toBeLessThan(10_000)
})

test('a control around paragraphs is read as one', async () => {
  const body = `<w:p>${run('Start')}</w:p>${control(`<w:dropDownList w:lastValue="q1">${items}</w:dropDownList>`)}`
  expect(await read(makeDocx([{ body }]), 'a.docx')).toBe('Start\n\nIn spring')
})

test('all controls of a form are read', async () => {
  const text = await read(readFaultFile('docx-controls-mix.docx'), 'a.docx')
  expect(text).toContain('Form field: Typed Wilhelmina box ☒ drop Green door')
  expect(text).toContain('our form (https://forms.example.org/apply?id=77) is online.')
})

test.each([
  [
    'a link',
    field('HYPERLINK "https://example.org/a?b=1&amp;c=2"', '', 'the form'),
    'the form (https://example.org/a?b=1&c=2)',
  ],
  ['an address', field('HYPERLINK "https://www.example.org/"', '', 'example.org'), 'example.org'],
  ['a mail address', field('HYPERLINK "mailto:ann@example.org"', '', 'ann@example.org'), 'ann@example.org'],
  ['a name', field('HYPERLINK "mailto:ann@example.org?subject=Hi"', '', 'Ann'), 'Ann (ann@example.org)'],
  ['a script', field('HYPERLINK "javascript:alert(1)"', '', 'never'), 'never'],
  ['a place in the document', field('HYPERLINK \\l "top"', '', 'up'), 'up'],
  [
    'a simple field',
    `<w:fldSimple w:instr=' HYPERLINK &quot;https://example.org/b&quot; '>${run('the list')}</w:fldSimple>`.replaceAll(
      "'",
      '"',
    ),
    'the list (https://example.org/b)',
  ],
])('the address behind %s is read, unless the words are it', async (_, xml, text) =>
  expect(await read(makeDocx([{ xml: `${run('See ')}${xml}${run('.')}` }]), 'a.docx')).toBe(`See ${text}.`),
)

test('the address behind the words of an old document is read', async () => {
  const text =
    'See \u0013 HYPERLINK "https://example.org/a" \\o "tip" \u0014the form\u0015 or \u0013 HYPERLINK \\l "top" \u0014above\u0015.\r'
  expect(await read(makeDoc([{ text, isNarrow: true }]), 'a.doc')).toBe(
    'See the form (https://example.org/a) or above.',
  )
})
