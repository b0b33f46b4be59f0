/** Writes numbers and heading levels from styles into the paragraphs of a Word document. */
import { type Numbering, readNumbering } from './numbering.ts'
import { headingLevel, readKind, type ParagraphStyles, readStyles, readValue } from './styles.ts'

const PARAGRAPH =
  /(<w:p(?:\s[^>]*)?>\s*<w:pPr>)([\s\S]*?)(<\/w:pPr>)(?=(?:\s*<w:r(?:\s[^>]*)?>\s*<w:rPr>([\s\S]*?)<\/w:rPr>)?)/g
const STYLE = /<w:pStyle\s[^>]*\/>/
const BOLD = /<w:b\s*\/>/

interface Parts {
  readonly styles: string
  readonly numbering: string
}

export function completeParagraphs(xml: string, { styles: stylesXml, numbering: numberingXml }: Parts): string {
  const styles = readStyles(stylesXml)
  const numbering = readNumbering(numberingXml, styles)
  return xml.replaceAll(
    PARAGRAPH,
    (_, begin: string, properties: string, end: string, textProperties: string | undefined) => {
      const { label, heading } = readProperties(properties, styles, numbering)
      const run = label === '' ? '' : `<w:r>${boldness(textProperties)}<w:t xml:space="preserve">${label} </w:t></w:r>`
      return `${begin}${heading === undefined ? properties : asHeading(properties, heading)}${end}${run}`
    },
  )
}

function readProperties(
  properties: string,
  styles: ParagraphStyles,
  numbering: Numbering,
): { readonly label: string; readonly heading: number | undefined } {
  const style = readValue(properties, 'pStyle')
  const kind = { ...(style === undefined ? {} : styles.kindOf(style)), ...readKind(properties) }
  const ancestry = style === undefined ? [] : styles.ancestry(style)
  // List 0 takes a paragraph out of the list of its style.
  const label = kind.list === undefined || kind.list === '0' ? '' : numbering.next(kind.list, kind.level, ancestry)
  return { label, heading: headingLevel(kind) }
}

const boldness = (textProperties: string | undefined): string =>
  textProperties !== undefined && BOLD.test(textProperties) ? '<w:rPr><w:b/></w:rPr>' : ''

/** mammoth maps these style ids to headings, whatever the file names its own styles. */
const asHeading = (properties: string, level: number): string =>
  `<w:pStyle w:val="Heading${level}"/>${properties.replace(STYLE, '')}`
