/** Sources and findings as prompt elements: data that cannot close its element. Pure. */
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isMessageSource, isWebSource, type MessageSource, type Source } from '#contract/source.ts'
import type { Finding } from './outcome.ts'

/** For material that a title or a summary is made of, into which a model may copy an `&amp;`. */
export const escapeTags = (text: string) => text.replaceAll('<', '&lt;')
export const escapeText = (text: string) => escapeTags(text.replaceAll('&', '&amp;'))
export const escapeAttribute = (text: string) => escapeText(text).replaceAll('"', '&quot;')

type NumberOf = (address: string) => number | undefined

/** @param text escaped, so that it cannot close the element. */
export const pageElement = (n: number | undefined, address: string, title: string, text: string): string =>
  `<source n="${n ?? ''}" address="${escapeAttribute(address)}" title="${escapeAttribute(title)}">\n${text}\n</source>`

function messageElement({ n, title, senderRole, createdAt, text }: MessageSource): string {
  const by = senderRole === SENDER_ROLES.user ? 'person' : 'assistant'
  const named = title === null ? '' : ` conversation="${escapeAttribute(title)}"`
  return `<source n="${n}"${named} date="${createdAt.slice(0, 10)}" said-by="${by}">\n${escapeText(text)}\n</source>`
}

export function showSource(source: Source): string {
  if (isMessageSource(source)) return messageElement(source)
  if (isWebSource(source)) return pageElement(source.n, source.address, source.title, escapeText(source.text))
  const { n, filename, page, heading, text } = source
  const section = heading ? ` section="${escapeAttribute(heading)}"` : ''
  return `<source n="${n}" file="${escapeAttribute(filename)}" page="${page}"${section}>\n${escapeText(text)}\n</source>`
}

export function showFinding(finding: Finding, room: number, numberOf: NumberOf): string {
  if (finding.kind === 'failure')
    return `<failure tool="${escapeAttribute(finding.tool)}">${escapeText(finding.reason)}</failure>`
  if (finding.kind === 'page') {
    const { address, title, text } = finding
    const rest = text.length > room ? '\n(The rest of the page is left out.)' : ''
    return pageElement(numberOf(address), address, title, escapeText(text.slice(0, room).toWellFormed()) + rest)
  }
  const results = finding.results.map(({ title, address, snippet }) =>
    pageElement(numberOf(address), address, title, escapeText(snippet)),
  )
  return `<results words="${escapeAttribute(finding.words)}">\n${results.join('\n') || 'Nothing was found.'}\n</results>`
}
