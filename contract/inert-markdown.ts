/**
 * Markdown that other programs show without loading anything. An instruction hidden in a document can make a model write data
 * into the address of an image, which a viewer requests without a click. Images become links, and HTML becomes text.
 *
 * Code stays as it is where every viewer takes it for code: in fenced blocks, and in spans within a line. Where viewers may
 * disagree, it is escaped too, and they show an entity in it.
 */
const LINE_END = /(\r\n?|\n)/
const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/
/** Fences in lists and quotations, and blocks of formulas, comments and settings, which may contain lines like fences. */
const UNCLEAR_FENCE = /`{3}|~{3}|\$\$|%%|\\\[|\\begin/
const SETTINGS_AT_START = /^(?:---|\+\+\+)/
const BACKTICKS = /`+/g
/** Columns and formulas divide a line before code spans do. */
const DIVIDER = /[|$]/
const EMBED = /(\\*)(!(?=\[)|<(?!(?:https?|mailto):[^\s<>`]*>)(?=[a-z/!?]))/gi
const ENTITIES: Readonly<Record<string, string>> = { '!': '&#33;', '<': '&lt;' }

/** Entities, since an address before it may take a backslash along. Of an odd number of these, the last one did the same. */
const escapeEmbeds = (text: string): string =>
  text.replace(
    EMBED,
    (_whole, backslashes: string, sign: string) => backslashes.slice(backslashes.length % 2) + (ENTITIES[sign] ?? sign),
  )

/** Some viewers take a backtick within an address for a part of it. */
const hasUnclearAddress = (line: string): boolean =>
  line.split(/\s/).some((word) => word.includes('`') && /https?:|www\./i.test(word))

/** Escapes a line except its code spans; undefined where the counterpart of backticks may be in another line. */
function escapeAroundSpans(line: string): string | undefined {
  if (hasUnclearAddress(line)) return undefined
  const runs = [...line.matchAll(BACKTICKS)]
  const parts: string[] = []
  let end = 0
  for (let index = 0; index < runs.length; index += 1) {
    const opening = runs[index]?.index ?? 0
    const marks = runs[index]?.[0]
    if (line[opening - 1] === '\\') return undefined
    do index += 1
    while (index < runs.length && runs[index]?.[0] !== marks)
    const closing = runs[index]
    if (!closing) return undefined
    parts.push(escapeEmbeds(line.slice(end, opening)))
    end = closing.index + closing[0].length
    parts.push(line.slice(opening, end))
  }
  return parts.join('') + escapeEmbeds(line.slice(end))
}

interface Fence {
  readonly indent: number
  readonly marks: string
}

type FenceLine = Fence & { readonly info: string }

function fenceIn(line: string): FenceLine | undefined {
  const [, indent = '', marks = '', info = ''] = FENCE.exec(line) ?? []
  return marks === '' || (marks.startsWith('`') && info.includes('`'))
    ? undefined
    : { indent: indent.length, marks, info }
}

const closes = (found: FenceLine | undefined, fence: Fence): boolean =>
  found !== undefined && found.marks.startsWith(fence.marks) && found.info.trim() === ''

/** In a list, a line with less indentation ends the block, and a closing fence may have more. */
const mayEnd = (line: string, { indent, marks }: Fence): boolean =>
  line.trim() !== '' && (line.search(/\S/) < indent || line.trim().startsWith(marks))

function createLineEscaper(areFencesClear: boolean): (line: string) => string {
  let hasClearFences = areFencesClear
  let fence: Fence | undefined
  /** True until the end of a paragraph in which backticks have no counterpart within their line. */
  let mayBeInSpan = false

  return function escapeLine(line) {
    const found = fenceIn(line)
    if (hasClearFences && fence) {
      if (closes(found, fence)) fence = undefined
      else if (mayEnd(line, fence)) hasClearFences = false
      return hasClearFences ? line : escapeEmbeds(line)
    }
    if (hasClearFences && found) {
      fence = found
      return escapeEmbeds(line)
    }
    if (UNCLEAR_FENCE.test(line)) hasClearFences = false
    if (line.trim() === '') mayBeInSpan = false
    if (!hasClearFences || mayBeInSpan || DIVIDER.test(line)) return escapeEmbeds(line)
    const escaped = escapeAroundSpans(line)
    mayBeInSpan = escaped === undefined
    return escaped ?? escapeEmbeds(line)
  }
}

/** Reads one document in parts that end with a line. */
export function createInertMarkdown(areFencesClear = true): (part: string) => string {
  const escapeLine = createLineEscaper(areFencesClear)
  return (part) =>
    part
      .split(LINE_END)
      .map((piece, index, { length }) =>
        index % 2 === 1 || (index === length - 1 && piece === '') ? piece : escapeLine(piece),
      )
      .join('')
}

export const inertMarkdown = (markdown: string): string =>
  createInertMarkdown(!SETTINGS_AT_START.test(markdown))(markdown)

/** For a text that is shown as Markdown but is none, such as a passage. */
export const inertText = escapeEmbeds
