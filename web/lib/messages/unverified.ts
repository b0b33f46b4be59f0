/** Finds the claims of an answer that its passages do not hold in the texts that the page shows. */
import type { Token } from 'marked'
import type { UnverifiedClaim } from '#contract/message.ts'

/** A part of a text. */
export type TextRange = { from: number; to: number }

/** A text with claims to mark. */
export type DoubtfulText = Token & { doubts: readonly TextRange[] }

export const isDoubtful = (token: Token): token is DoubtfulText => 'doubts' in token

const endOf = ({ start, text }: UnverifiedClaim): number => start + text.length

/** Marks claims in the texts of blocks; blocks without any keep their identity. Claims that are not at their place are left out. */
export function markClaims(
  content: string,
  tokens: readonly Token[],
  claims: readonly UnverifiedClaim[],
): readonly Token[] {
  const open = claims.filter(({ start, text }) => text !== '' && content.startsWith(text, start))
  if (open.length === 0) return tokens
  let at = 0
  let next = 0

  function doubtsIn(raw: string): TextRange[] {
    const doubts: TextRange[] = []
    let before = 0
    // Lines of a list or a quotation have marks and blanks between them that the text does not.
    for (const line of raw.split('\n')) {
      const found = line.trim() === '' ? -1 : content.indexOf(line, at)
      if (found !== -1) {
        at = found + line.length
        while (endOf(open[next] ?? { start: Infinity, text: '' }) <= found) next += 1
        for (const claim of open.slice(next)) {
          if (claim.start >= at) break
          const [from, to] = [Math.max(claim.start, found), Math.min(endOf(claim), at)]
          doubts.push({ from: before + from - found, to: before + to - found })
        }
      }
      before += line.length + 1
    }
    return doubts
  }

  function markAll<Marked extends Token>(given: readonly Marked[]): readonly Marked[] {
    const marked = given.map(mark)
    return marked.every((token, index) => token === given[index]) ? given : marked
  }

  function mark<Marked extends Token>(token: Marked): Marked {
    if (token.type === 'table' && 'rows' in token) {
      const [header, ...rows] = [token.header as Token[], ...(token.rows as Token[][])].map(markAll)
      const isSame = header === token.header && rows.every((row, index) => row === (token.rows as Token[][])[index])
      return isSame ? token : { ...token, header, rows }
    }
    // An address that is nowhere in the sources is shown as such already, and a link may hold no other control.
    if (token.type === 'link') {
      doubtsIn(token.raw)
      return token
    }
    const key = 'items' in token ? 'items' : 'tokens'
    const parts = (token as { items?: Token[]; tokens?: Token[] })[key]
    if (parts !== undefined && parts.length > 0) {
      const marked = markAll(parts)
      return marked === parts ? token : { ...token, [key]: marked }
    }
    // Code moves the place on as well, so that its figures are not taken for those of a later text.
    const doubts = doubtsIn(token.raw)
    return token.type === 'text' && doubts.length > 0 ? { ...token, doubts } : token
  }

  return markAll(tokens)
}

/** Splits a text at its marked ranges, which are in order and do not overlap. */
export function splitRanges(text: string, ranges: readonly TextRange[]): { text: string; isMarked: boolean }[] {
  const pieces: { text: string; isMarked: boolean }[] = []
  let from = 0
  for (const range of ranges) {
    const [start, end] = [Math.max(from, range.from), Math.min(text.length, range.to)]
    if (start >= end) continue
    pieces.push({ text: text.slice(from, start), isMarked: false }, { text: text.slice(start, end), isMarked: true })
    from = end
  }
  return [...pieces, { text: text.slice(from), isMarked: false }].filter((piece) => piece.text !== '')
}
