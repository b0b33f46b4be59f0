import { createListCounter, type List, type ListLevel } from '#server/parsing/list-numbers.ts'
import { listProperties, createView } from './properties.ts'

/** Offsets in the File Information Block (MS-DOC 2.5.6). */
const FIB = { styles: 0xa2, lists: 0x2e2, overrides: 0x2ea } as const

const LEVEL_OF_LIST = 0x260a
const NUMBER_OF_LIST = 0x460b
const PARAGRAPH_STYLE = 1
const NO_STYLE = 0xfff
/** Keys are `nfc` values (MS-OSHARED 2.2.1.3), values the names of ECMA-376. */
const FORMATS: Readonly<Record<number, string>> = {
  1: 'upperRoman',
  2: 'lowerRoman',
  3: 'upperLetter',
  4: 'lowerLetter',
  22: 'decimalZero',
  23: 'bullet',
  255: 'none',
}

interface Membership {
  readonly list?: number
  readonly level?: number
}

function membershipOf(properties: Uint8Array): Membership {
  let membership: Membership = {}
  for (const { number, operand } of listProperties(properties)) {
    if (number === LEVEL_OF_LIST) membership = { ...membership, level: operand.getUint8(0) }
    if (number === NUMBER_OF_LIST) membership = { ...membership, list: operand.getUint16(0, true) }
  }
  return membership
}

/** The function counts a paragraph; its label is empty if it has none. @throws RangeError for broken tables. */
export function readWordNumbering(
  document: Uint8Array,
  table: Uint8Array,
): (style: number, properties: Uint8Array) => string {
  const fib = createView(document)
  const tableAt = (offset: number): DataView | undefined => {
    const [start, length] = [fib.getUint32(offset, true), fib.getUint32(offset + 4, true)]
    return length === 0 ? undefined : createView(table.subarray(start))
  }
  const [styles, lists, overrides] = [tableAt(FIB.styles), tableAt(FIB.lists), tableAt(FIB.overrides)]
  if (!lists || !overrides) return () => ''
  const ofStyle = styles ? readStyles(styles) : () => ({})
  const labelOf = createListCounter(readOverrides(overrides, readLists(lists)))
  return (style, properties) => {
    const { list = 0, level = 0 } = { ...ofStyle(style), ...membershipOf(properties) }
    return labelOf(String(list), level)
  }
}

/** MS-DOC 2.9.271: length-prefixed styles, each optionally based on another. */
function readStyles(view: DataView): (style: number) => Membership {
  const own = new Map<number, { readonly base: number; readonly membership: Membership }>()
  const [count, baseBytes] = [view.getUint16(2, true), view.getUint16(4, true)]
  let at = 2 + view.getUint16(0, true)
  for (let style = 0; style < count; style += 1) {
    const length = view.getUint16(at, true)
    const start = at + 2
    at = start + length + (length & 1)
    if (length === 0) continue
    const kind = view.getUint16(start + 2, true)
    if ((kind & 0xf) !== PARAGRAPH_STYLE) continue
    const name = start + baseBytes
    const upx = name + 2 + 2 * view.getUint16(name, true) + 2
    const properties = bytesOf(view, upx + 4, Math.max(0, view.getUint16(upx, true) - 2))
    own.set(style, { base: kind >> 4, membership: membershipOf(properties) })
  }
  const resolve = (style: number, seen: ReadonlySet<number> = new Set()): Membership => {
    const found = own.get(style)
    if (!found || seen.has(style)) return {}
    const inherited = found.base === NO_STYLE ? {} : resolve(found.base, new Set([...seen, style]))
    return { ...inherited, ...found.membership }
  }
  const resolved = new Map([...own.keys()].map((style) => [style, resolve(style)]))
  return (style) => resolved.get(style) ?? {}
}

const bytesOf = (view: DataView, at: number, length: number): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset + at, length)

const LIST_BYTES = 28
const LEVEL_BYTES = 28
const OVERRIDE_BYTES = 16
const SIMPLE_LIST = 1
const LEVELS = 9

/** MS-DOC 2.9.147: the lists by id, followed by the levels of all lists. */
function readLists(view: DataView): Map<number, Map<number, ListLevel>> {
  const count = view.getUint16(0, true)
  const lists = new Map<number, Map<number, ListLevel>>()
  let at = 2 + count * LIST_BYTES
  for (let index = 0; index < count; index += 1) {
    const start = 2 + index * LIST_BYTES
    const isSimple = (view.getUint8(start + 26) & SIMPLE_LIST) !== 0
    const levels = new Map<number, ListLevel>()
    for (let depth = 0; depth < (isSimple ? 1 : LEVELS); depth += 1) {
      const { level, end } = readLevel(view, at)
      levels.set(depth, level)
      at = end
    }
    lists.set(view.getInt32(start, true), levels)
  }
  return lists
}

/** MS-DOC 2.9.150: a placeholder is a character whose code is the level it refers to. */
function readLevel(view: DataView, at: number): { readonly level: ListLevel; readonly end: number } {
  const flags = view.getUint8(at + 5)
  const length = at + LEVEL_BYTES + view.getUint8(at + 24) + view.getUint8(at + 25)
  const characters = view.getUint16(length, true)
  const codes = Array.from({ length: characters }, (_, index) => view.getUint16(length + 2 + index * 2, true))
  return {
    level: {
      start: view.getInt32(at, true),
      format: FORMATS[view.getUint8(at + 4)] ?? 'decimal',
      text: codes.map((code) => (code < LEVELS ? `%${code + 1}` : String.fromCharCode(code))).join(''),
      restarts: (flags & 8) === 0,
      isLegal: (flags & 4) !== 0,
    },
    end: length + 2 + characters * 2,
  }
}

/** MS-DOC 2.9.138: paragraphs refer to overrides, counted from 1, which may change levels of a list. */
function readOverrides(view: DataView, lists: ReadonlyMap<number, ReadonlyMap<number, ListLevel>>): Map<string, List> {
  const count = view.getUint32(0, true)
  const named = new Map<string, List>()
  let at = 4 + count * OVERRIDE_BYTES
  for (let index = 0; index < count; index += 1) {
    const start = 4 + index * OVERRIDE_BYTES
    const id = view.getInt32(start, true)
    const levels = new Map(lists.get(id))
    const starts = new Map<number, number>()
    at += 4
    for (let changed = view.getUint8(start + 12); changed > 0; changed -= 1) {
      const flags = view.getUint32(at + 4, true)
      const depth = flags & 0xf
      if ((flags & 0x10) !== 0) starts.set(depth, view.getInt32(at, true))
      at += 8
      if ((flags & 0x20) === 0) continue
      const { level, end } = readLevel(view, at)
      levels.set(depth, level)
      if ((flags & 0x10) !== 0) starts.set(depth, level.start)
      at = end
    }
    named.set(String(index + 1), { abstract: String(id), levels, starts })
  }
  return named
}
