/** The parts of an answer to read aloud: text without Markdown, markers, code and tables. */
import type { Token } from 'marked'
import { LIKELY_MARKER } from '#contract/citation-marker.ts'
import { decodeEntities, lexMarkdown } from './markdown.ts'

const SILENT = new Set(['code', 'table', 'hr', 'html', 'space', 'def', 'image'])
const INLINE = new Set(['strong', 'em', 'del', 'link', 'text', 'escape', 'codespan'])

function wordsOf(token: Token): string {
  if (SILENT.has(token.type)) return ''
  if (token.type === 'br') return ' '
  if (token.type === 'list') {
    const { items } = token as { items?: Token[] }
    return (items ?? []).map(wordsOf).join('\n')
  }
  if (token.type !== 'codespan' && 'tokens' in token && Array.isArray(token.tokens)) {
    return token.tokens.map((inner) => wordsOf(inner) + (INLINE.has(inner.type) ? '' : '\n')).join('')
  }
  return 'text' in token && typeof token.text === 'string' ? decodeEntities(token.text) : ''
}

const MARKERS = new RegExp(String.raw`\s?${LIKELY_MARKER}`, 'g')
const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

export function spokenLines(markdown: string): string[] {
  return lexMarkdown(markdown)
    .flatMap((block) => wordsOf(block).split('\n'))
    .map((line) => line.replace(MARKERS, '').trim())
    .filter(hasWords)
}

export function spokenSentences(markdown: string, locale?: string): string[] {
  const segmenter = new Intl.Segmenter(locale, { granularity: 'sentence' })
  return spokenLines(markdown)
    .flatMap((line) => Array.from(segmenter.segment(line), ({ segment }) => segment.trim()))
    .filter(hasWords)
}
