import { chooseQuotes } from '#server/assistant/extractive/choose-quotes.ts'
import { asPlainMarkdown } from '#server/assistant/extractive/extractive-answer.ts'
import { prepareTextCandidates } from '#server/assistant/extractive/quote-candidates.ts'
import type { Finding } from '#server/assistant/tools/outcome.ts'
import type { Scope } from '#server/database/scope.ts'
import { splitSentences } from '#server/search/text/split-sentences.ts'

const OPENING_SENTENCES = 3

export interface FindingSection {
  readonly text: string
  readonly isFound: boolean
}

type NumberOf = (address: string) => number | undefined

function openingOf(text: string): string[] {
  return splitSentences(text)
    .slice(0, OPENING_SENTENCES)
    .map(({ start, end }) => text.slice(start, end))
}

const found = (text: string): FindingSection => ({ text, isFound: true })
const missing = (text: string): FindingSection => ({ text, isFound: false })

async function quotePage(
  scope: Scope,
  { address, title, text, question }: Extract<Finding, { kind: 'page' }>,
  numberOf: NumberOf,
): Promise<FindingSection> {
  const marker = `[${numberOf(address) ?? ''}]`
  const quotes =
    question === ''
      ? openingOf(text)
      : chooseQuotes(await prepareTextCandidates(scope, question, title, text)).map((quote) => quote.text)
  if (quotes.length === 0) return missing(`The page holds nothing that answers this. ${marker}`)
  return found(quotes.map((quote) => `> ${asPlainMarkdown(quote)} ${marker}`).join('\n>\n'))
}

/** One section per finding. Runs as the person: words are stemmed in the languages of their library. */
export async function quoteFindings(
  scope: Scope,
  findings: readonly Finding[],
  numberOf: NumberOf,
): Promise<FindingSection[]> {
  const sections: FindingSection[] = []
  for (const finding of findings) {
    if (finding.kind === 'page') sections.push(await quotePage(scope, finding, numberOf))
    else if (finding.kind === 'failure') sections.push(missing(asPlainMarkdown(finding.reason)))
    else if (finding.results.length === 0)
      sections.push(missing(`Nothing was found for "${asPlainMarkdown(finding.words)}".`))
    else {
      const items = finding.results.map(
        ({ title, address, snippet }) =>
          `- ${asPlainMarkdown(title)}: ${asPlainMarkdown(snippet)} [${numberOf(address) ?? ''}]`,
      )
      sections.push(found(items.join('\n')))
    }
  }
  return sections
}
