/** Writes values of form fields and content controls as text where a document stores them as properties only. */

/*
 * The loops below have bounds, since an element of millions of characters would overflow the stack of the
 * expression, and end at the next start of their element, since they would read on from each start otherwise.
 */

/** A field begins with its data, then its instruction and, after a separator, perhaps its result (ECMA-376 1, 17.16). */
const FIELD_DATA =
  /<w:fldChar\s[^>]*?w:fldCharType="begin"[^>]*>\s*<w:ffData(?:\s[^>]*)?>((?:(?!<\/?w:ffData[\s>])[\s\S]){0,200000})<\/w:ffData>/g
const FIELD_END = /<w:fldChar\s[^>]*w:fldCharType="end"/g
const FIELD_RESULT = /w:fldCharType="separate"/
const WORDS = /<w:t(?:\s[^>]*)?>(?=[^<]*\S)/
const LIST_ENTRY = /<w:listEntry\s[^>]*?w:val="([^"]*)"/g

const CONTROL =
  /<w:sdtPr(?:\s[^>]*)?>((?:(?!<\/?w:sdtPr[\s>])[\s\S]){0,200000})<\/w:sdtPr>(\s*(?:<w:sdtEndPr(?:\s*\/>|[^>]*>(?:(?!<\/?w:sdtEndPr[\s>])[\s\S]){0,200000}<\/w:sdtEndPr>)\s*)?)(?:<w:sdtContent\s*\/>|<w:sdtContent>((?:(?!<\/?w:sdt(?:Content|Pr)?[\s>])[\s\S]){0,20000})<\/w:sdtContent>)/g
const HAS_CONTENT = /<w:t(?:\s[^>]*)?>[^<]*[^<\s]|<w:(?:sym|drawing|pict|object|tbl)\b/
const LIST = /<w:(?:dropDownList|comboBox)\s[^>]*?w:lastValue="([^"]+)"/
const LIST_ITEM = /<w:listItem\s[^>]*>/g
const DATE = /<w:date\s[^>]*?w:fullDate="(\d{4}-\d\d-\d\d)/
const CHECKED = /<w14:checked\s[^>]*?w14:val="([^"]*)"/

/** Elements that hold a simple field; only links are worth their instruction. */
const SIMPLE_LINK =
  /<w:fldSimple\s[^>]*?w:instr="(\s*HYPERLINK\s[^"]*)"[^>]*>((?:(?!<\/?w:fldSimple)[\s\S]){0,20000})<\/w:fldSimple>/gi

export function writeFormValues(xml: string): string {
  const withControls = xml.replaceAll(
    CONTROL,
    (control: string, properties: string, between: string, content: string | undefined, offset: number) => {
      const value = HAS_CONTENT.test(content ?? '') ? undefined : valueOfControl(properties)
      if (value === undefined) return control
      return `<w:sdtPr>${properties}</w:sdtPr>${between}<w:sdtContent>${fill(content ?? '', value, isInParagraph(xml, offset))}</w:sdtContent>`
    },
  )
  const withFields = withControls.replaceAll(FIELD_DATA, (begin: string, data: string, offset: number) => {
    const value = valueOfField(data)
    return value === undefined || hasResult(withControls, offset + begin.length) ? begin : `${write(value)}${begin}`
  })
  return withFields.replaceAll(SIMPLE_LINK, (_, instruction: string, content: string) => {
    const mark = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`
    const link = `<w:r><w:instrText xml:space="preserve">${instruction}</w:instrText></w:r>`
    return `${mark('begin')}${link}${mark('separate')}${content}${mark('end')}`
  })
}

/** @param value escaped, as in the attribute that it comes from. */
const write = (value: string): string => `<w:t xml:space="preserve">${value}</w:t>`

function valueOfField(data: string): string | undefined {
  if (data.includes('<w:ddList')) {
    const chosen = readValue(data, 'result') ?? readValue(data, 'default') ?? '0'
    return [...data.matchAll(LIST_ENTRY)][Number(chosen)]?.[1]
  }
  return data.includes('<w:textInput>') ? readValue(data, 'default') : undefined
}

const readValue = (data: string, name: string): string | undefined =>
  new RegExp(`<w:${name}\\s[^>]*?w:val="([^"]*)"`).exec(data)?.[1]

/** Some programs write the chosen entry as the result of the field as well. */
function hasResult(xml: string, from: number): boolean {
  FIELD_END.lastIndex = from
  const end = FIELD_END.exec(xml)?.index ?? from
  const inside = xml.slice(from, end)
  const result = inside.search(FIELD_RESULT)
  return result !== -1 && WORDS.test(inside.slice(result))
}

function valueOfControl(properties: string): string | undefined {
  const checked = CHECKED.exec(properties)?.[1]
  if (checked !== undefined) return /^(?:1|true|on)$/.test(checked) ? '☒' : '☐'
  const date = DATE.exec(properties)?.[1]
  if (date !== undefined) return date
  const value = LIST.exec(properties)?.[1]
  if (value === undefined) return undefined
  const item = properties.match(LIST_ITEM)?.find((each) => attributeOf(each, 'value') === value)
  return item === undefined ? value : (attributeOf(item, 'displayText') ?? value)
}

const attributeOf = (tag: string, name: string): string | undefined =>
  new RegExp(`\\sw:${name}="([^"]*)"`).exec(tag)?.[1]

function fill(content: string, value: string, isInline: boolean): string {
  const run = `<w:r>${write(value)}</w:r>`
  if (/<\/w:p>/.test(content)) return content.replace('</w:p>', () => `${run}</w:p>`)
  return isInline ? `${content}${run}` : `<w:p>${run}</w:p>`
}

function isInParagraph(xml: string, offset: number): boolean {
  const before = xml.slice(Math.max(0, offset - MAX_LOOK_BACK), offset)
  return Math.max(before.lastIndexOf('<w:p>'), before.lastIndexOf('<w:p ')) > before.lastIndexOf('</w:p>')
}

const MAX_LOOK_BACK = 100_000
