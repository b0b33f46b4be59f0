/** Rewrites text in drawings as the text-box markup that mammoth reads. A picture contributes its alternative text. */

const TAG = /<(\/?)(w:drawing|w:pict|w:txbxContent|wp:docPr|pic:pic|a:p|a:t|c:chart|dgm:relIds)\b([^>]*?)(\/?)>/g
const DESCRIPTION = /\sdescr="([^"]*)"/
const FILE_NAME = /\.(?:bmp|emf|gif|jpe?g|png|svg|tiff?|wmf)$|^\w+:[/\\]/i
const WRITTEN_BY_WORD =
  /\s*Description automatically generated(?: with \w+ confidence)?|\s*AI-generated content may be incorrect\./g
const RELATION = /\sr:(?:id|dm)="([^"]*)"/

/** @param describe paragraphs and tables for the chart or diagram of a relation. */
export function replaceDrawings(xml: string, describe: (relation: string) => string): string {
  const open: ('drawing' | 'box')[] = []
  const isInDrawing = () => open.at(-1) === 'drawing'
  let written = ''
  let line = ''
  let description = ''
  let done = 0
  for (const { index, 0: tag, 1: slash, 2: name, 3: attributes = '', 4: selfClosing } of xml.matchAll(TAG)) {
    const before = xml.slice(done, index)
    done = index + tag.length
    const isEnd = slash === '/'
    const isWhole = selfClosing === '/'
    const wasInDrawing = isInDrawing()
    if (!wasInDrawing) written += before
    switch (name) {
      case 'w:drawing':
      case 'w:pict':
        if (isWhole || (isEnd && !wasInDrawing)) break
        if (isEnd) open.pop()
        // Nested drawings count only once, unless a text box is between.
        if (!isInDrawing()) written += isEnd ? '</w:pict>' : '<w:pict>'
        if (!isEnd) open.push('drawing')
        break
      case 'w:txbxContent':
        if (isWhole || (isEnd && open.at(-1) !== 'box')) break
        if (isEnd) open.pop()
        else open.push('box')
        written += tag
        break
      case 'wp:docPr':
        if (!wasInDrawing) written += tag
        else if (!isEnd) description = DESCRIPTION.exec(attributes)?.[1] ?? ''
        break
      case 'pic:pic':
        if (!wasInDrawing) written += tag
        else if (!isEnd) {
          written += writeParagraph(cleanDescription(description))
          description = ''
        }
        break
      case 'a:t':
        if (!wasInDrawing) written += tag
        else if (isEnd) line += before
        break
      case 'a:p':
        if (!wasInDrawing) written += tag
        else if (isEnd) {
          written += writeParagraph(line)
          line = ''
        }
        break
      default:
        if (wasInDrawing && !isEnd) written += describe(RELATION.exec(attributes)?.[1] ?? '')
        else if (!wasInDrawing) written += tag
    }
  }
  return written + xml.slice(done)
}

const cleanDescription = (description: string): string =>
  FILE_NAME.test(description.trim()) ? '' : description.replaceAll(WRITTEN_BY_WORD, '').replaceAll('&#xA;', ' ').trim()

export const writeParagraph = (words: string): string =>
  words.trim() === '' ? '' : `<w:p><w:r><w:t xml:space="preserve">${words}</w:t></w:r></w:p>`
