export interface ListLevel {
  readonly start: number
  /** `w:numFmt` (ECMA-376, 17.18.59); `bullet` and `none` have no label. */
  readonly format: string
  readonly text: string
  readonly restarts: boolean
  readonly isLegal: boolean
}

export interface List<Level extends ListLevel = ListLevel> {
  readonly abstract: string
  readonly levels: ReadonlyMap<number, Level>
  readonly starts: ReadonlyMap<number, number>
}

/** Returns a function that counts a paragraph and returns its label; empty for a bullet or no label. */
export function createListCounter(lists: ReadonlyMap<string, List>): (id: string, depth: number) => string {
  const counts = new Map<string, (number | undefined)[]>()
  const begun = new Set<string>()
  return (id, depth) => {
    const list = lists.get(id)
    const level = list?.levels.get(depth)
    if (!list || !level) return ''
    const count = counts.get(list.abstract) ?? []
    counts.set(list.abstract, count)
    const start = list.starts.get(depth)
    const key = `${id} ${depth}`
    const before = start !== undefined && !begun.has(key) ? start - 1 : (count[depth] ?? level.start - 1)
    begun.add(key)
    count[depth] = before + 1
    for (let below = depth + 1; below < count.length; below += 1)
      if (list.levels.get(below)?.restarts !== false) count[below] = undefined
    return formatLabel(list, level, count)
  }
}

function formatLabel(
  { levels }: List,
  { format, text, isLegal }: ListLevel,
  count: readonly (number | undefined)[],
): string {
  if (format === 'bullet') return ''
  return text.replaceAll(/%([1-9])/g, (_, place: string) => {
    const depth = Number(place) - 1
    const level = levels.get(depth)
    if (!level || level.format === 'none') return ''
    return formatCount(count[depth] ?? level.start, isLegal ? 'decimal' : level.format)
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
const MAX_COUNT = 4_000

function toRoman(value: number): string {
  let rest = value
  let letters = ''
  for (const [worth, sign] of ROMAN) for (; rest >= worth; rest -= worth) letters += sign
  return letters
}

/** a to z, then aa to zz: Word repeats the letter. */
const toLetters = (value: number): string => String.fromCharCode(97 + ((value - 1) % 26)).repeat(Math.ceil(value / 26))

function formatCount(value: number, format: string): string {
  if (value < 1 || value > MAX_COUNT) return String(value)
  switch (format) {
    case 'lowerLetter':
      return toLetters(value)
    case 'upperLetter':
      return toLetters(value).toUpperCase()
    case 'lowerRoman':
      return toRoman(value)
    case 'upperRoman':
      return toRoman(value).toUpperCase()
    case 'decimalZero':
      return String(value).padStart(2, '0')
    default:
      return String(value)
  }
}
