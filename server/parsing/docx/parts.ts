/** Prepares the parts that mammoth reads, and rewrites equations, drawings, headers and footers that it would drop. */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { unpack } from '#server/parsing/containers/unpack.ts'
import type { ZipEntry } from '#server/parsing/containers/zip-directory.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import { describeGraphic } from './charts.ts'
import { replaceDrawings } from './drawings.ts'
import { markChunks, listTargets } from './embedded-files.ts'
import { replaceEquations } from './equations.ts'
import { writeFormValues } from './form-fields.ts'
import { normaliseMarkup } from './markup.ts'
import { completeParagraphs } from './paragraphs.ts'

export interface DocxFile {
  readonly exists: (name: string) => boolean
  readonly read: (name: string, encoding?: string) => Promise<Uint8Array | string>
}

const DEFAULT_MAIN = 'word/document.xml'
/** Names the main document part; Word for the web uses another path. */
const PACKAGE_RELATIONS = '_rels/.rels'
const NO_RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'
const MAX_MARGINS = 24
const MAX_CHUNKS = 200

export interface DocxChunk {
  readonly mark: string
  readonly read: () => Uint8Array
}

/** The main document, and each header and footer as a separate document. */
export interface DocxParts {
  readonly main: DocxFile
  readonly margins: readonly DocxFile[]
  readonly chunks: readonly DocxChunk[]
}

export function openDocx(bytes: Uint8Array, entries: readonly ZipEntry[]): DocxParts {
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const readText = (name: string): string => {
    const entry = byName.get(name)
    if (!entry) throw new Error(`the file has no part ${name}`)
    return new TextDecoder().decode(unpack(bytes, entry))
  }
  const graphicsOf = (part: string) => {
    const relations = readTextIfPresent(relationsOf(part))
    const targets = new Map([...listTargets(relations, 'chart'), ...listTargets(relations, 'diagramData')])
    return (relation: string): string => {
      const target = targets.get(relation)
      const entry = target === undefined ? undefined : entryOf(part, target)
      targets.delete(relation)
      try {
        return entry ? describeGraphic(readText(entry.name)) : ''
      } catch (error) {
        if (error instanceof ParseFailure) throw error
        return ''
      }
    }
  }
  const fileWith = (replaced: Readonly<Record<string, () => string>>): DocxFile => ({
    exists: (name) => Object.hasOwn(replaced, name) || byName.has(name),
    async read(name, encoding) {
      const replacement = replaced[name]
      if (replacement) return replacement()
      const entry = byName.get(name)
      if (encoding === undefined && entry) return unpack(bytes, entry)
      const text = readText(name)
      if (!/^word\/[^/]+\.xml$/.test(name)) return text
      if (name !== mainName) return makeReadable(text, graphicsOf(name))
      const marked = markChunks(text, (relation) => chunks.get(relation)?.mark)
      return completeParagraphs(makeReadable(marked, graphicsOf(name)), readStyleParts())
    },
  })
  const mainName = findMain(byName.has(PACKAGE_RELATIONS) ? readText(PACKAGE_RELATIONS) : '')
  const readTextIfPresent = (name: string) => (byName.has(name) ? readText(name) : '')
  const readStyleParts = () => ({
    styles: readTextIfPresent('word/styles.xml'),
    numbering: readTextIfPresent('word/numbering.xml'),
  })
  const entryOf = (part: string, target: string) =>
    byName.get(path.posix.resolve('/', path.posix.dirname(part), target).slice(1))
  const chunks = new Map(
    [...listTargets(readTextIfPresent(relationsOf(mainName)), 'aFChunk')]
      .slice(0, MAX_CHUNKS)
      .flatMap(([relation, target]) => {
        const entry = entryOf(mainName, target)
        return entry ? [[relation, { mark: randomUUID(), read: () => unpack(bytes, entry) }] as const] : []
      }),
  )
  const margins = [...byName.keys()].filter((name) => /^word\/(?:header|footer)\d*\.xml$/.test(name))
  return {
    main: fileWith({}),
    margins: margins.slice(0, MAX_MARGINS).map((name) => {
      const relations = relationsOf(name)
      return fileWith({
        [mainName]: () => asDocument(makeReadable(readText(name), graphicsOf(name))),
        [relationsOf(mainName)]: () => (byName.has(relations) ? readText(relations) : NO_RELATIONS),
      })
    }),
    chunks: [...chunks.values()],
  }
}

function makeReadable(xml: string, describe: (relation: string) => string): string {
  rejectDeepNesting(xml)
  return replaceDrawings(normaliseMarkup(writeFormValues(replaceEquations(xml))), describe)
}

/** Real documents reach about fifty levels, nested tables included. */
const MAX_DEPTH = 1000
/** Tags, and comments and CDATA sections, whose brackets are not tags; a quoted bracket does not end a tag. */
const TAG = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<(?![!?])(?:[^>"']|"[^"]*"|'[^']*')*>/g

function rejectDeepNesting(xml: string): void {
  let depth = 0
  for (const [tag] of xml.matchAll(TAG)) {
    if (tag.startsWith('<!') || tag.endsWith('/>')) continue
    depth += tag.startsWith('</') ? -1 : 1
    if (depth > MAX_DEPTH) throw new ParseFailure('too_deep')
  }
}

const relationsOf = (part: string): string => part.replace(/([^/]*)$/, '_rels/$1.rels')

function findMain(relations: string): string {
  const main = relations
    .match(/<Relationship\s[^>]*>/g)
    ?.find((relation) => /Type="[^"]*\/officeDocument"/.test(relation))
  return /Target="\/?([^"]*)"/.exec(main ?? '')?.[1] ?? DEFAULT_MAIN
}

const asDocument = (xml: string): string =>
  xml
    .replace(/<w:(?:hdr|ftr)(\s[^>]*)?>/, '<w:document$1><w:body>')
    .replace(/<\/w:(?:hdr|ftr)>\s*$/, '</w:body></w:document>')
