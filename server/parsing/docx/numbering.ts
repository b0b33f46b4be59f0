/** Computes list and heading numbers ("2.1", "(a)", "§ 3"), which the file does not store. */
import { createListCounter, type List, type ListLevel } from '#server/parsing/list-numbers.ts'
import { type ParagraphStyles, readValue } from './styles.ts'

interface Level extends ListLevel {
  readonly style: string | undefined
}

/** Counts paragraphs in order and returns each label, empty for bullets. */
export interface Numbering {
  readonly next: (list: string, level: number | undefined, styles: readonly string[]) => string
}

const ABSTRACT = /<w:abstractNum\s[^>]*?w:abstractNumId="([^"]*)"[^>]*>([\s\S]*?)<\/w:abstractNum>/g
const LIST = /<w:num\s[^>]*?w:numId="([^"]*)"[^>]*>([\s\S]*?)<\/w:num>/g
const LEVEL = /<w:lvl\s[^>]*?w:ilvl="(\d+)"[^>]*>([\s\S]*?)<\/w:lvl>/g
const OVERRIDE = /<w:lvlOverride\s[^>]*?w:ilvl="(\d+)"[^>]*>([\s\S]*?)<\/w:lvlOverride>/g

export function readNumbering(xml: string, styles: ParagraphStyles): Numbering {
  const lists = readLists(xml, styles)
  const labelOf = createListCounter(lists)
  return {
    next(id, givenLevel, ancestry) {
      const list = lists.get(id)
      return list ? labelOf(id, givenLevel ?? levelOfStyle(list, ancestry)) : ''
    },
  }
}

function readLists(xml: string, styles: ParagraphStyles): Map<string, List<Level>> {
  const abstracts = new Map<string, { levels: Map<number, Level>; link: string | undefined }>()
  for (const [, id = '', inside = ''] of xml.matchAll(ABSTRACT))
    abstracts.set(id, { levels: readLevels(inside), link: readValue(inside, 'numStyleLink') })
  const found = [...xml.matchAll(LIST)].map(([, id = '', inside = '']) => ({ id, inside }))
  const abstractOf = new Map(found.map(({ id, inside }) => [id, readValue(inside, 'abstractNumId') ?? '']))
  const lists = new Map<string, List<Level>>()
  for (const { id, inside } of found) {
    const own = abstractOf.get(id) ?? ''
    // Some definitions only name the style that has the list.
    const link = abstracts.get(own)?.link
    const linked = link === undefined ? undefined : styles.kindOf(link).list
    const abstract = (linked === undefined ? undefined : abstractOf.get(linked)) ?? own
    const levels = new Map(abstracts.get(abstract)?.levels)
    const starts = new Map<number, number>()
    for (const [, depth = '', override = ''] of inside.matchAll(OVERRIDE)) {
      for (const [number, level] of readLevels(override)) levels.set(number, level)
      const start = readValue(override, 'startOverride')
      if (start !== undefined) starts.set(Number(depth), Number(start))
    }
    lists.set(id, { abstract, levels, starts })
  }
  return lists
}

const readLevels = (xml: string): Map<number, Level> =>
  new Map(
    [...xml.matchAll(LEVEL)].map(([, depth, inside = '']) => [
      Number(depth),
      {
        start: Number(readValue(inside, 'start') ?? 0),
        format: readValue(inside, 'numFmt') ?? 'decimal',
        text: readValue(inside, 'lvlText') ?? '',
        style: readValue(inside, 'pStyle'),
        restarts: readValue(inside, 'lvlRestart') !== '0',
        isLegal: /<w:isLgl(?:\s*\/>|\s[^>]*w:val="(?:1|true)")/.test(inside),
      },
    ]),
  )

function levelOfStyle({ levels }: List<Level>, ancestry: readonly string[]): number {
  for (const [depth, { style }] of levels) if (style !== undefined && ancestry.includes(style)) return depth
  return 0
}
