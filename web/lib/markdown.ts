/** Markdown that is still being written: finished blocks are lexed once and kept, only the open tail is lexed again. */
import { lexer, type MarkedToken, type Token } from 'marked'

export type MarkdownState = {
  text: string
  /** Blocks that no further text can change; each keeps its identity from commit to commit. */
  closed: readonly Token[]
  /** Where in `text` the open tail begins. */
  closedEnd: number
  tail: readonly Token[]
}

export const emptyMarkdown: MarkdownState = { text: '', closed: [], closedEnd: 0, tail: [] }

const lex = (text: string): Token[] => lexer(text, { gfm: true, breaks: false })

/** Takes in the text so far; when it does not continue the earlier one, all of it is lexed anew. */
export function advanceMarkdown(state: MarkdownState, text: string): MarkdownState {
  if (text === state.text) return state
  const base = text.startsWith(state.text) ? state : emptyMarkdown
  const tokens = lex(text.slice(base.closedEnd))
  const open = tokens.findLastIndex((token) => token.type !== 'space')
  const finished = tokens.slice(0, Math.max(0, open))
  const finishedLength = finished.reduce((length, token) => length + token.raw.length, 0)
  return {
    text,
    closed:
      finished.length === 0 ? base.closed : [...base.closed, ...finished.filter((token) => token.type !== 'space')],
    closedEnd: base.closedEnd + finishedLength,
    tail: tokens.slice(Math.max(0, open)),
  }
}

/** The blocks of a finished text. */
export function lexMarkdown(text: string): readonly Token[] {
  return lex(text).filter((token) => token.type !== 'space')
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

/** The lexer leaves entities as they were written; React would show them letter by letter. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, decimal, hex, name) => {
    if (typeof name === 'string') return NAMED[name] ?? whole
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/** The address of a link if it is one that a page may open, else null: no script, no data, no relative ones. */
export function safeHref(href: string): string | null {
  const decoded = decodeEntities(href)
  if (!URL.canParse(decoded)) return null
  const url = new URL(decoded)
  return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null
}

const MARKED_TYPES = new Set(
  (
    'blockquote br checkbox code codespan def del em escape heading hr html image link list list_item paragraph space ' +
    'strong table text'
  ).split(' '),
)

/** Tells the lexer's own tokens from those of extensions, of which there are none here. */
export const isMarkedToken = (token: Token): token is MarkedToken => MARKED_TYPES.has(token.type)
