/** The numbered sources of one answer. Numbers never change; sources that tools find are appended. */
import { isPassageSource, isWebSource, type Source, type WebSource } from '#contract/source.ts'
import {
  isQuotable,
  isSameQuotable,
  type UnnumberedQuotable,
  type QuotableSource,
} from '#server/assistant/extractive/quotable.ts'
import type { Finding } from '#server/assistant/tools/outcome.ts'

const MAX_CARD_CHARACTERS = 400

const nameOf = (source: Source): string =>
  isPassageSource(source) ? [source.filename, source.heading ?? ''].join('\n') : (source.title ?? '')

export interface SourceList {
  readonly all: readonly Source[]
  readonly numbers: ReadonlySet<number>
  /** Returns the existing source where the passage is already listed. */
  addPassage(found: UnnumberedQuotable): QuotableSource
  addFinding(finding: Finding): void
  /** Full text under a number, including the name; undefined where only a part is stored. */
  readonly textOf: (n: number) => string | undefined
  readonly numberOf: (address: string) => number | undefined
}

interface SourceListOptions {
  readonly isPartial?: (source: Source) => boolean
  readonly toCard?: (source: Source) => Source
}

export function createSourceList(
  initial: readonly Source[],
  { isPartial = () => false, toCard = (source) => source }: SourceListOptions = {},
): SourceList {
  const all = initial.map(toCard)
  const texts = new Map<number, string>()
  const addText = (n: number, ...parts: readonly (string | null | undefined)[]) =>
    texts.set(n, [texts.get(n), ...parts].filter((part) => part != null).join('\n'))
  for (const source of initial) if (!isPartial(source)) addText(source.n, nameOf(source), source.text)
  const numbers = new Set(all.map(({ n }) => n))
  const next = () => Math.max(0, ...numbers) + 1
  function add<Added extends Source>(added: Added): Added {
    all.push(added)
    numbers.add(added.n)
    return added
  }
  const pageAt = (address: string): WebSource | undefined =>
    all.filter(isWebSource).find((page) => page.address === address)

  function addPage(page: Omit<WebSource, 'n'>): void {
    const { n } =
      pageAt(page.address) ?? add({ n: next(), ...page, text: page.text.slice(0, MAX_CARD_CHARACTERS).toWellFormed() })
    addText(n, page.title, page.text)
  }

  return {
    all,
    numbers,
    addPassage(found) {
      const known = all.filter(isQuotable).find((source) => isSameQuotable(source, found))
      if (known) return known
      const added = add({ n: next(), ...found })
      addText(added.n, nameOf(added), found.text)
      return added
    },
    addFinding(finding) {
      if (finding.kind === 'page') addPage({ address: finding.address, title: finding.title, text: finding.text })
      if (finding.kind === 'results')
        for (const { address, title, snippet } of finding.results) addPage({ address, title, text: snippet })
    },
    textOf: (n) => texts.get(n),
    numberOf: (address) => pageAt(address)?.n,
  }
}
