import { type Heading, type ParsedPage } from './page.ts'

/** A paragraph, heading, list item or table row of a format without pages. */
export interface Block {
  readonly kind: 'heading' | 'paragraph'
  readonly text: string
}

/** Characters after which a section ends with the block that reached it, so that "page 7" means a screenful. */
const SECTION_CHARACTERS = 3_000
/** A heading begins a new section unless the one before is shorter than this. */
const SHORTEST_SECTION = 600

/** Groups blocks to sections that begin at headings where there are any; sections are numbered as pages. */
export function groupSections(blocks: readonly Block[]): ParsedPage[] {
  const sections: ParsedPage[] = []
  let text = ''
  let headings: Heading[] = []
  const close = () => {
    if (text.trim() !== '') sections.push({ page: sections.length + 1, text, headings })
    text = ''
    headings = []
  }
  for (const block of blocks) {
    for (const piece of splitLong(block.text)) {
      const isFull = text.length + piece.length > SECTION_CHARACTERS
      if (isFull || (block.kind === 'heading' && text.length >= SHORTEST_SECTION)) close()
      if (text !== '') text += '\n\n'
      if (block.kind === 'heading') headings.push([text.length, piece.slice(0, 150)])
      text += piece
    }
  }
  close()
  return sections
}

/** Cuts what alone exceeds a section at sentence ends, line ends or blanks, whichever comes last before the limit. */
function splitLong(text: string): string[] {
  const pieces: string[] = []
  let rest = text
  while (rest.length > SECTION_CHARACTERS) {
    const window = rest.slice(0, SECTION_CHARACTERS)
    const cut = [/[.!?。！？]["'”’)\]]*\s*(?=[^.!?。！？]*$)/u, /\n(?=[^\n]*$)/, /\s(?=\S*$)/]
      .map((border) => border.exec(window))
      .find((found) => found !== null && found.index > SECTION_CHARACTERS / 2)
    const length = cut ? cut.index + cut[0].length : SECTION_CHARACTERS - (isHighSurrogate(window.at(-1)) ? 1 : 0)
    pieces.push(rest.slice(0, length).trimEnd())
    rest = rest.slice(length).trimStart()
  }
  return rest === '' ? pieces : [...pieces, rest]
}

const isHighSurrogate = (character: string | undefined) => character !== undefined && /[\uD800-\uDBFF]/.test(character)
