import { decodeHTML } from 'entities/decode'
import { addressBehind } from '#server/parsing/links.ts'

export interface PageText {
  readonly title: string
  readonly text: string
}

type Token =
  | { kind: 'text'; text: string }
  | { kind: 'open'; name: string; isVoid: boolean; target?: string }
  | { kind: 'close'; name: string }

const RAW_TEXT = new Set(['script', 'style', 'textarea', 'title', 'noscript', 'iframe', 'noembed', 'noframes', 'xmp'])
const NEVER_SHOWN = new Set(['script', 'style', 'textarea', 'title', 'noscript', 'iframe', 'noembed', 'noframes',
  'template', 'svg', 'math', 'object', 'select', 'button', 'dialog', 'audio', 'video', 'canvas']) // prettier-ignore
const SURROUNDINGS = new Set(['nav', 'header', 'footer', 'aside'])
const VOID = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
])
const PARAGRAPHS = new Set(['p', 'div', 'section', 'article', 'main', 'header', 'footer', 'aside', 'nav', 'ul', 'ol', 'dl',
  'table', 'blockquote', 'pre', 'figure', 'figcaption', 'address', 'form', 'fieldset', 'details', 'summary', 'hr',
  'h1', 'h2', 'h3', 'h4', 'h5', 'h6']) // prettier-ignore
const LINES = new Set(['br', 'li', 'tr', 'dt', 'dd', 'option', 'caption'])
const CELLS = new Set(['td', 'th'])
const MIN_BODY_CHARACTERS = 200

const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)')/i
const MAX_TAG = 4_000

function findTagEnd(html: string, from: number): number {
  let quote = ''
  for (let index = from; index < html.length; index += 1) {
    const character = html[index] ?? ''
    if (quote !== '') {
      if (character === quote) quote = ''
    } else if (character === '>') return index + 1
    else if ((character === '"' || character === "'") && html[index - 1] === '=') quote = character
  }
  return html.length
}

/** One pass, linear on malformed input (docs/decisions/011-reading-html-and-zip-directories.md). */
function* tokenize(html: string, isXml: boolean): Generator<Token> {
  let index = 0
  while (index < html.length) {
    const open = html.indexOf('<', index)
    if (open === -1) {
      yield { kind: 'text', text: html.slice(index) }
      return
    }
    if (open > index) yield { kind: 'text', text: html.slice(index, open) }
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4)
      index = end === -1 ? html.length : end + 3
      continue
    }
    const tag = /^<(\/?)([a-z][^\s/>]{0,40})/i.exec(html.slice(open, open + 44))
    if (tag === null) {
      const isMarkup = /[!?/]/.test(html[open + 1] ?? '')
      const end = isMarkup ? html.indexOf('>', open) : open
      if (!isMarkup) yield { kind: 'text', text: '<' }
      index = end === -1 ? html.length : end + 1
      continue
    }
    const name = (tag[2] ?? '').toLowerCase()
    const attributes = open + tag[0].length
    index = findTagEnd(html, attributes)
    if (tag[1] === '/') {
      yield { kind: 'close', name }
      continue
    }
    // HTML ignores the slash of a self-closing raw-text element.
    const isVoid = VOID.has(name) || (html[index - 2] === '/' && (isXml || !RAW_TEXT.has(name)))
    const target = name === 'a' ? HREF.exec(html.slice(attributes, Math.min(index, attributes + MAX_TAG))) : null
    yield { kind: 'open', name, isVoid, ...(target ? { target: decodeHTML(target[1] ?? target[2] ?? '') } : {}) }
    if (!isVoid && RAW_TEXT.has(name)) {
      const closing = new RegExp(`</${name}`, 'gi')
      closing.lastIndex = index
      const end = closing.exec(html)?.index ?? html.length
      yield { kind: 'text', text: html.slice(index, end) }
      index = end
    }
  }
}

interface RenderOptions {
  readonly skipped?: ReadonlySet<string>
  readonly within?: string
  /** Whether addresses follow the words of links. */
  readonly hasAddresses?: boolean
}

function render(
  tokens: readonly Token[],
  { skipped = new Set(), within, hasAddresses = false }: RenderOptions = {},
): string {
  let text = ''
  let link: { readonly target: string; readonly start: number } | undefined
  let insideDepth = 0
  let skipping = ''
  let skipDepth = 0
  let preDepth = 0
  for (const token of tokens) {
    if (token.kind === 'text') {
      if (skipDepth > 0 || (within !== undefined && insideDepth === 0)) continue
      const decoded = decodeHTML(token.text)
      text += preDepth > 0 ? decoded : decoded.replace(/[ \t\r\n\f]+/g, ' ')
      continue
    }
    const { kind, name } = token
    const step = kind === 'close' ? -1 : token.isVoid ? 0 : 1
    if (skipDepth > 0) {
      if (name === skipping) skipDepth += step
      continue
    }
    if (step === 1 && (NEVER_SHOWN.has(name) || skipped.has(name))) {
      skipping = name
      skipDepth = 1
      continue
    }
    if (name === within) insideDepth = Math.max(0, insideDepth + step)
    if (within !== undefined && insideDepth === 0 && name !== within) continue
    if (name === 'pre') preDepth = Math.max(0, preDepth + step)
    if (PARAGRAPHS.has(name)) text += '\n\n'
    else if (LINES.has(name) && kind === 'open') text += '\n'
    if (name === 'a' && hasAddresses) {
      if (kind === 'open') link = { target: token.target ?? '', start: text.length }
      else if (link) {
        text += addressBehind(text.slice(link.start), link.target)
        link = undefined
      }
    }
    if (kind === 'open' && name === 'li') text += '- '
    if (kind === 'close' && CELLS.has(name)) text += ' | '
  }
  return tidy(text)
}

function trimRow(line: string): string {
  let end = line.length
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '|')) end -= 1
  return line.slice(line.startsWith(' ') && !line.startsWith('  ') ? 1 : 0, end)
}

const tidy = (text: string) =>
  text
    .replace(/[\u00a0\t\r]/g, ' ')
    .split('\n')
    .map(trimRow)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

function readTitle(tokens: readonly Token[]): string {
  const index = tokens.findIndex((token) => token.kind === 'open' && token.name === 'title')
  const content = index === -1 ? undefined : tokens[index + 1]
  return content?.kind === 'text' ? decodeHTML(content.text).replace(/\s+/g, ' ').trim() : ''
}

/** Prefers `main`, then `article`, then text without navigation; takes all text if that is short or `isDocument`. */
export function htmlToText(html: string, { isXml = false, isDocument = false } = {}): PageText {
  const tokens = [...tokenize(html, isXml)]
  if (isDocument) return { title: readTitle(tokens), text: render(tokens, { hasAddresses: true }) }
  const attempts = [
    () => render(tokens, { skipped: SURROUNDINGS, within: 'main' }),
    () => render(tokens, { skipped: SURROUNDINGS, within: 'article' }),
    () => render(tokens, { skipped: SURROUNDINGS }),
  ]
  for (const attempt of attempts) {
    const text = attempt()
    if (text.length >= MIN_BODY_CHARACTERS) return { title: readTitle(tokens), text }
  }
  return { title: readTitle(tokens), text: render(tokens) }
}
