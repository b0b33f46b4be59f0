import path from 'node:path'
import { decodeXML } from 'entities/decode'
import { listTargets } from '#server/parsing/docx/embedded-files.ts'

const SHEET = /<(?:\w+:)?sheet\s[^>]*?\w:id="([^"]*)"/g
const TEXT_BODY = /<xdr:txBody>[\s\S]*?<\/xdr:txBody>/g
const PARAGRAPH = /<a:p>([\s\S]*?)<\/a:p>/g
const WORDS = /<a:t(?:\s[^>]*)?>([^<]*)<\/a:t>|<a:br\b/g

/** A drawing may repeat itself without limit. */
const MAX_CHARACTERS = 500_000

/** Text boxes by sheet order (ECMA-376 part 1, 18.2.19, 20.5.2.38). `read` returns an empty text for a missing part. */
export function readTextBoxes(read: (part: string) => string): string[][] {
  const relations = listTargets(readRelationships(read, 'xl/workbook.xml'), 'worksheet')
  return [...read('xl/workbook.xml').matchAll(SHEET)].map(([, id = '']) => {
    const target = relations.get(id)
    if (target === undefined) return []
    const sheet = resolve('xl/workbook.xml', target)
    const drawings = [...listTargets(readRelationships(read, sheet), 'drawing').values()]
    return drawings.flatMap((drawing) => findTextBoxes(read(resolve(sheet, drawing)).slice(0, MAX_CHARACTERS)))
  })
}

const readRelationships = (read: (part: string) => string, part: string): string =>
  read(path.posix.join(path.posix.dirname(part), '_rels', `${path.posix.basename(part)}.rels`))

const resolve = (part: string, target: string): string =>
  target.startsWith('/') ? target.slice(1) : path.posix.join(path.posix.dirname(part), target)

const findTextBoxes = (drawing: string): string[] =>
  [...drawing.matchAll(TEXT_BODY)]
    .map(([body]) =>
      withoutBlankLines([...body.matchAll(PARAGRAPH)].map(([, inside = '']) => readParagraph(inside)).join('\n')),
    )
    .filter((text) => text !== '')

const readParagraph = (paragraph: string): string =>
  [...paragraph.matchAll(WORDS)].map(([, words]) => (words === undefined ? '\n' : decodeXML(words))).join('')

const withoutBlankLines = (text: string): string => text.replaceAll(/\s*[\r\n]\s*/g, '\n').trim()
