/** Markdown that is still being written: finished blocks are lexed once and kept, only the open tail is lexed again. */
import { Marked, type MarkedToken, type Token, type Tokens } from 'marked'
import { displayMathsAt, inlineMathsAt, type Maths } from './maths.ts'
import { stableMarkdown } from './stable-markdown.ts'

export type MathsToken = Maths & { type: 'maths' }

export type MarkdownState = {
  text: string
  /** Blocks that no further text can change; each keeps its identity from commit to commit. */
  closed: readonly Token[]
  /** Where in `text` the open tail begins. */
  closedEnd: number
  tail: readonly Token[]
}

export const emptyMarkdown: MarkdownState = { text: '', closed: [], closedEnd: 0, tail: [] }

const asToken = (maths: Maths | null): MathsToken | undefined =>
  maths === null ? undefined : { type: 'maths', ...maths }

const marked = new Marked({
  gfm: true,
  breaks: false,
  extensions: [
    {
      name: 'displayMaths',
      level: 'block',
      start: (text) => {
        const index = text.search(/\n {0,3}(?:\$\$|\\\[)/)
        return index === -1 ? undefined : index
      },
      tokenizer: (text) => asToken(displayMathsAt(text)),
    },
    {
      name: 'inlineMaths',
      level: 'inline',
      start: (text) => {
        const index = text.search(/\$|\\[([]/)
        return index === -1 ? undefined : index
      },
      tokenizer: (text, before) => asToken(inlineMathsAt(text, before.at(-1)?.raw ?? '')),
    },
  ],
})

const lex = (text: string): Token[] => marked.lexer(text)
const isBlock = (token: Token): boolean => token.type !== 'space'
const lengthOf = (tokens: readonly Token[]): number => tokens.reduce((length, { raw }) => length + raw.length, 0)
// The lexer turns line ends into these, and its tokens are counted by their length.
const normalizeLineEnds = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text)

/** Takes in the text so far; when it does not continue the earlier one, all of it is lexed anew. */
export function updateMarkdown(state: MarkdownState, given: string): MarkdownState {
  const text = normalizeLineEnds(given)
  if (text === state.text) return state
  const base = text.startsWith(state.text) ? state : emptyMarkdown
  const { stable, closing, plain } = stableMarkdown(text.slice(base.closedEnd))
  const tokens = lex(stable + closing)
  const open = Math.max(0, tokens.findLastIndex(isBlock))
  const finished = tokens.slice(0, open)
  const last = tokens
    .slice(open)
    .filter(isBlock)
    .map((token) => reuseListItems(token, base.tail[0]))
  return {
    text,
    closed: finished.length === 0 ? base.closed : [...base.closed, ...finished.filter(isBlock)],
    closedEnd: base.closedEnd + lengthOf(finished),
    tail: plain === '' ? last : [...last, plainParagraph(plain)],
  }
}

/** Ends the writing: the blocks of the whole text, with those that are known already. */
export function finishMarkdown(state: MarkdownState, given: string): readonly Token[] {
  const text = normalizeLineEnds(given)
  const isLinkedAcross = /^ {0,3}\[[^\]\n]+\]:/m.test(text)
  if (isLinkedAcross || state.closedEnd === 0 || !text.startsWith(state.text)) return lexMarkdown(text)
  const blocks = [...state.closed, ...lex(text.slice(state.closedEnd)).filter(isBlock)]
  lexed = { text, blocks }
  return blocks
}

/** The text that was finished last: what has just been drawn is read out next. */
let lexed: { text: string; blocks: readonly Token[] } | null = null

/** The blocks of a finished text. */
export function lexMarkdown(text: string): readonly Token[] {
  if (lexed?.text !== text) lexed = { text, blocks: lex(text).filter(isBlock) }
  return lexed.blocks
}

const plainParagraph = (raw: string): Tokens.Paragraph => ({
  type: 'paragraph',
  raw,
  text: raw,
  tokens: [{ type: 'text', raw, text: raw, escaped: false }],
})

/** A list grows at its end: the items that did not change keep their identity, and with it what was drawn for them. */
function reuseListItems(token: Token, known: Token | undefined): Token {
  if (!isList(token) || known === undefined || !isList(known) || token.loose !== known.loose) return token
  return {
    ...token,
    items: token.items.map((item, index) => {
      const before = known.items[index]
      return before?.raw === item.raw ? before : item
    }),
  }
}

const isList = (token: Token): token is Tokens.List => token.type === 'list' && 'items' in token

const NAMED_ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

/** The lexer leaves entities as they were written; React would show them letter by letter. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, decimal, hex, name) => {
    if (typeof name === 'string') return NAMED_ENTITIES[name] ?? whole
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

/** Tells the lexer's own tokens from those of extensions. */
export const isMarkedToken = (token: Token): token is MarkedToken => MARKED_TYPES.has(token.type)

export const isMathsToken = (token: Token): token is MathsToken => token.type === 'maths' && 'source' in token
