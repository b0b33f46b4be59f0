/** Numbers of lists and headings of a Word document ("2.1", "(a)", "§ 3"), which the file leaves to whoever shows it to count. */
import { type ParagraphStyles, valueOf } from './docx-styles.ts'

interface Level {
  readonly start: number
  readonly format: string
  /** `%1.%2` */
  readonly text: string
  /** The style whose paragraphs stand on this level. */
  readonly style: string | undefined
  readonly restarts: boolean
  readonly isLegal: boolean
}

interface List {
  readonly abstract: string
  readonly levels: ReadonlyMap<number, Level>
  /** Where this list begins anew, unlike others of its kind, which go on. */
  readonly starts: ReadonlyMap<number, number>
}

/** Counts one paragraph after the other; answers with the label of each, empty where it has a bullet. */
export interface Numbering {
  readonly next: (list: string, level: number | undefined, styles: readonly string[]) => string
}

const ABSTRACT = /<w:abstractNum\s[^>]*?w:abstractNumId="([^"]*)"[^>]*>([\s\S]*?)<\/w:abstractNum>/g
const LIST = /<w:num\s[^>]*?w:numId="([^"]*)"[^>]*>([\s\S]*?)<\/w:num>/g
const LEVEL = /<w:lvl\s[^>]*?w:ilvl="(\d+)"[^>]*>([\s\S]*?)<\/w:lvl>/g
const OVERRIDE = /<w:lvlOverride\s[^>]*?w:ilvl="(\d+)"[^>]*>([\s\S]*?)<\/w:lvlOverride>/g

export function readNumbering(xml: string, styles: ParagraphStyles): Numbering {
  const lists = readLists(xml, styles)
  const counts = new Map<string, (number | undefined)[]>()
  const begun = new Set<string>()
  return {
    next(id, givenLevel, ancestry) {
      const list = lists.get(id)
      if (!list) return ''
      const depth = givenLevel ?? levelOfStyle(list, ancestry)
      const level = list.levels.get(depth)
      if (!level) return ''
      const count = counts.get(list.abstract) ?? []
      counts.set(list.abstract, count)
      const start = list.starts.get(depth)
      const key = `${id} ${depth}`
      const before = start !== undefined && !begun.has(key) ? start - 1 : (count[depth] ?? level.start - 1)
      begun.add(key)
      count[depth] = before + 1
      for (let below = depth + 1; below < count.length; below += 1)
        if (list.levels.get(below)?.restarts !== false) count[below] = undefined
      return labelOf(list, level, count)
    },
  }
}

function readLists(xml: string, styles: ParagraphStyles): Map<string, List> {
  const abstracts = new Map<string, { levels: Map<number, Level>; link: string | undefined }>()
  for (const [, id = '', inside = ''] of xml.matchAll(ABSTRACT))
    abstracts.set(id, { levels: readLevels(inside), link: valueOf(inside, 'numStyleLink') })
  const found = [...xml.matchAll(LIST)].map(([, id = '', inside = '']) => ({ id, inside }))
  const abstractOf = new Map(found.map(({ id, inside }) => [id, valueOf(inside, 'abstractNumId') ?? '']))
  const lists = new Map<string, List>()
  for (const { id, inside } of found) {
    const own = abstractOf.get(id) ?? ''
    // Some only say which style has the list.
    const link = abstracts.get(own)?.link
    const linked = link === undefined ? undefined : styles.kindOf(link).list
    const abstract = (linked === undefined ? undefined : abstractOf.get(linked)) ?? own
    const levels = new Map(abstracts.get(abstract)?.levels)
    const starts = new Map<number, number>()
    for (const [, depth = '', override = ''] of inside.matchAll(OVERRIDE)) {
      for (const [number, level] of readLevels(override)) levels.set(number, level)
      const start = valueOf(override, 'startOverride')
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
        start: Number(valueOf(inside, 'start') ?? 0),
        format: valueOf(inside, 'numFmt') ?? 'decimal',
        text: valueOf(inside, 'lvlText') ?? '',
        style: valueOf(inside, 'pStyle'),
        restarts: valueOf(inside, 'lvlRestart') !== '0',
        isLegal: /<w:isLgl(?:\s*\/>|\s[^>]*w:val="(?:1|true)")/.test(inside),
      },
    ]),
  )

function levelOfStyle({ levels }: List, ancestry: readonly string[]): number {
  for (const [depth, { style }] of levels) if (style !== undefined && ancestry.includes(style)) return depth
  return 0
}

function labelOf({ levels }: List, { format, text, isLegal }: Level, count: readonly (number | undefined)[]): string {
  if (format === 'bullet') return ''
  return text.replaceAll(/%([1-9])/g, (_, place: string) => {
    const depth = Number(place) - 1
    const level = levels.get(depth)
    if (!level || level.format === 'none') return ''
    return written(count[depth] ?? level.start, isLegal ? 'decimal' : level.format)
  })
}

const ROMAN: readonly (readonly [number, string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]
const LARGEST_ROMAN = 4_000

function roman(value: number): string {
  let rest = value
  let letters = ''
  for (const [worth, sign] of ROMAN) for (; rest >= worth; rest -= worth) letters += sign
  return letters
}

/** a to z, then aa to zz: Word repeats the letter. */
const letter = (value: number): string => String.fromCharCode(97 + ((value - 1) % 26)).repeat(Math.ceil(value / 26))

/** As `w:numFmt` says; formats of other scripts are written in digits. */
function written(value: number, format: string): string {
  if (value < 1 || value > LARGEST_ROMAN) return String(value)
  switch (format) {
    case 'lowerLetter':
      return letter(value)
    case 'upperLetter':
      return letter(value).toUpperCase()
    case 'lowerRoman':
      return roman(value)
    case 'upperRoman':
      return roman(value).toUpperCase()
    case 'decimalZero':
      return String(value).padStart(2, '0')
    default:
      return String(value)
  }
}
