/** Incremental Markdown: finished blocks are lexed once, only the open tail is lexed again. */
import { Marked, type MarkedToken, type Token, Tokenizer, type Tokens } from 'marked'
import { EAST_ASIAN_PUNCTUATION } from '#contract/written-addresses.ts'
import { displayMathsAt, inlineMathsAt, type Maths } from './maths.ts'
import { stableMarkdown } from './stable-markdown.ts'

export type MathsToken = Maths & { type: 'maths' }

export type MarkdownState = {
  text: string
  /** Blocks that further text cannot change; they keep their identity between updates. */
  closed: readonly Token[]
  closedEnd: number
  tail: readonly Token[]
}

export const emptyMarkdown: MarkdownState = { text: '', closed: [], closedEnd: 0, tail: [] }

const asToken = (maths: Maths | null): MathsToken | undefined =>
  maths === null ? undefined : { type: 'maths', ...maths }

const EAST_ASIAN_LETTERS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々`
const IS_EAST_ASIAN_LETTER = new RegExp(`[${EAST_ASIAN_LETTERS}]`, 'u')
/** Marks that close behind a punctuation mark, and go on with a letter. */
const CLOSING_BEFORE_LETTER = new RegExp(
  String.raw`(?<=[\p{Pe}\p{Pf}\p{Po}\p{Pd}])(?<!\*)(\*{1,3})([${EAST_ASIAN_LETTERS}])`,
  'gu',
)

let spaced = { masked: '', text: '' }

/**
 * CommonMark tells opening from closing marks by the blanks around punctuation, which Chinese, Japanese and Korean do not
 * write: \`方法**“重要”**，\` and \`**注意：**请\` would stay asterisks. Letters of these scripts count as blanks there.
 */
const eastAsianTokenizer: Partial<Pick<Tokenizer, 'emStrong' | 'url'>> = {
  emStrong(text, masked, before) {
    // Every mark of a paragraph is looked at with the same text.
    if (masked !== spaced.masked)
      spaced = {
        masked,
        text: masked.replaceAll(
          CLOSING_BEFORE_LETTER,
          (_, marks: string, letter: string) => marks + ' '.repeat(letter.length),
        ),
      }
    const blank = before !== undefined && IS_EAST_ASIAN_LETTER.test(before) ? '' : before
    return Tokenizer.prototype.emStrong.call(this, text, spaced.text, blank)
  },
  url(text) {
    const end = text.search(EAST_ASIAN_PUNCTUATION)
    return Tokenizer.prototype.url.call(this, end === -1 ? text : text.slice(0, end))
  },
}

const marked = new Marked({
  gfm: true,
  breaks: false,
  tokenizer: eastAsianTokenizer,
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
// The lexer normalizes line ends, and token lengths must add up.
const normalizeLineEnds = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text)

/** Updates the state with the whole text so far; text that does not extend the earlier one is lexed from the start. */
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

export function finishMarkdown(state: MarkdownState, given: string): readonly Token[] {
  const text = normalizeLineEnds(given)
  const isLinkedAcross = /^ {0,3}\[[^\]\n]+\]:/m.test(text)
  if (isLinkedAcross || state.closedEnd === 0 || !text.startsWith(state.text)) return lexMarkdown(text)
  const blocks = [...state.closed, ...lex(text.slice(state.closedEnd)).filter(isBlock)]
  lexed = { text, blocks }
  return blocks
}

/** A cache of one: an answer is rendered, then read aloud. */
let lexed: { text: string; blocks: readonly Token[] } | null = null

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

/** Unchanged items of a growing list keep their identity, so React does not render them again. */
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

/** The lexer leaves HTML entities undecoded, and React shows them literally. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, decimal, hex, name) => {
    if (typeof name === 'string') return NAMED_ENTITIES[name] ?? whole
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/** The text of inline tokens without its formatting. */
export const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => {
      if (isMathsToken(token) || !isMarkedToken(token)) return token.raw
      if ('tokens' in token) return textOf(token.tokens)
      return 'text' in token ? decodeEntities(token.text) : token.raw
    })
    .join('')

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

export const isMarkedToken = (token: Token): token is MarkedToken => MARKED_TYPES.has(token.type)

export const isMathsToken = (token: Token): token is MathsToken => token.type === 'maths' && 'source' in token
