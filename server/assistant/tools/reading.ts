/** What the Reader says of pages and search results: their own words, with the address that they come from. */
import { type Scope } from '#server/database/scope.ts'
import { asPlainMarkdown, chooseQuotes, prepareTextReading, splitSentences } from '#server/assistant/reader.ts'
import { type Finding } from './outcome.ts'

/** Of a page about which nothing in particular is asked. */
const OPENING_SENTENCES = 3

/** Addresses come normalised, without blanks; an angle bracket could still end the link. */
const link = (address: string) => `<${address.replaceAll('<', '%3C').replaceAll('>', '%3E')}>`

function openingOf(text: string): string[] {
  return splitSentences(text)
    .slice(0, OPENING_SENTENCES)
    .map(({ start, end }) => text.slice(start, end))
}

async function quotePage(scope: Scope, { address, title, text, question }: Extract<Finding, { kind: 'page' }>) {
  const quotes =
    question === ''
      ? openingOf(text)
      : chooseQuotes(await prepareTextReading(scope, question, title, text)).map((quote) => quote.text)
  if (quotes.length === 0) return `The page ${link(address)} holds nothing that answers this.`
  const name = title === '' ? '' : `${asPlainMarkdown(title)}: `
  return `${quotes.map((quote) => `> ${asPlainMarkdown(quote)}`).join('\n>\n')}\n\n${name}${link(address)}`
}

/** One section of Markdown for each finding. Run as the person: words are stemmed as their library's are. */
export async function quoteFindings(scope: Scope, findings: readonly Finding[]): Promise<string[]> {
  const sections: string[] = []
  for (const finding of findings) {
    if (finding.kind === 'page') sections.push(await quotePage(scope, finding))
    else if (finding.kind === 'failure') sections.push(asPlainMarkdown(finding.reason))
    else if (finding.results.length === 0) sections.push(`Nothing was found for "${asPlainMarkdown(finding.words)}".`)
    else {
      const items = finding.results.map(
        ({ title, address, snippet }) => `- ${asPlainMarkdown(title)}: ${asPlainMarkdown(snippet)} ${link(address)}`,
      )
      sections.push(items.join('\n'))
    }
  }
  return sections
}
