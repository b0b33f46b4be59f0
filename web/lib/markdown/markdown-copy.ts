import { MARKER } from '#contract/citation-marker.ts'
import { inertMarkdown, inertText } from '#contract/inert-markdown.ts'
import { isMessageSource, isWebSource, type Source } from '#contract/source.ts'
import { describeSourceLocation } from '#web/lib/documents/source-location.ts'
import { describeSpeaker, listTitle } from '#web/lib/messages/conversation-labels.ts'
import { passageText } from './passage-text.ts'

/** Bracketed numbers in it are no markers. */
const CODE = /(^ {0,3}(`{3,}|~{3,})[^]*?(?:^ {0,3}\2|$(?![^]))|(?<!`)(`+)(?!`)[^]*?(?<!`)\3(?!`))/
/** Or a marker, with the space before it. */
const CODE_OR_MARKER = new RegExp(`${CODE.source}| ?${MARKER}`, 'gm')

function describeSource(source: Source): string {
  if (isWebSource(source)) return [source.title, `<${source.address}>`].filter((part) => part !== '').join(', ')
  if (isMessageSource(source))
    return `${listTitle(source)}, ${describeSpeaker(source)}, ${source.createdAt.slice(0, 10)}`
  return describeSourceLocation(source, 'footnote')
}

const footnote = (source: Source, prefix: string): string =>
  inertText(`[^${prefix}${source.n}]: ${describeSource(source)}: “${passageText(source.text).replace(/\s+/g, ' ')}”`)

/**
 * An answer as self-contained Markdown that loads nothing: markers become footnotes with file, page and passage, or the
 * conversation. @param prefix sets its footnotes apart from those of other answers in the same text
 */
export function withFootnotes(text: string, sources: readonly Source[], prefix = ''): string {
  const byNumber = new Map(sources.map((source) => [source.n, source]))
  const cited = new Set<Source>()
  const body = inertMarkdown(text).replace(
    CODE_OR_MARKER,
    (whole: string, code: string | undefined, ...groups: unknown[]) => {
      const source = code === undefined ? byNumber.get(Number(groups[2])) : undefined
      if (source === undefined) return whole
      cited.add(source)
      return `[^${prefix}${source.n}]`
    },
  )
  if (cited.size === 0) return body
  return `${body.trimEnd()}\n\n${[...cited]
    .toSorted((a, b) => a.n - b.n)
    .map((source) => footnote(source, prefix))
    .join('\n')}\n`
}
