import { UNSURE_BELOW, type PageGap, type ReadingReport } from '#contract/document.ts'

import { partName } from '#web/lib/documents/document-parts.ts'

const REASONS: Record<PageGap, string> = {
  blank: 'nothing is on it',
  not_recognised: 'no text was found in what it shows',
  unreadable: 'it is damaged',
  beyond_limit: 'it came after as many pages as are recognised',
}

interface Remark {
  term: string
  detail: string
}

/** Remarks about single pages: which ones OCR read, with its confidence, and which have no text and why. */
export function describeReport(report: ReadingReport, mimetype: string): Remark[] {
  const { pages, recognised, without_text, cut } = report
  const name = (count: number) => partName(mimetype, count)
  const remarks: Remark[] = []
  const read = pages - without_text.length
  remarks.push({ term: 'Read', detail: `${read} of ${pages} ${name(pages)}` })
  for (const [term, isMeant] of [
    ['By text recognition', (confidence: number) => confidence >= UNSURE_BELOW],
    ['By text recognition, unsure', (confidence: number) => confidence < UNSURE_BELOW],
  ] as const) {
    const meant = recognised.filter(({ confidence }) => isMeant(confidence))
    if (meant.length === 0) continue
    const mean = meant.reduce((sum, { confidence }) => sum + confidence, 0) / meant.length
    const numbers = listNumbers(meant.map(({ page }) => page))
    remarks.push({
      term,
      detail: `${capital(name(meant.length))} ${numbers}, ${Math.round(mean)}% confidence${meant.length > 1 ? ' on average' : ''}`,
    })
  }
  for (const why of ['blank', 'not_recognised', 'unreadable', 'beyond_limit', null] as const) {
    const meant = without_text.filter((page) => page.why === why)
    if (meant.length === 0) continue
    const numbers = listNumbers(meant.map(({ page }) => page))
    const reason = why === null ? 'no text was found' : REASONS[why]
    remarks.push({ term: `No text: ${reason}`, detail: `${capital(name(meant.length))} ${numbers}` })
  }
  if (cut.length > 0)
    remarks.push({ term: 'Cut at the limit', detail: `${capital(name(cut.length))} ${listNumbers(cut)}` })
  return remarks
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** `1–3, 7`; the numbers are sorted. */
function listNumbers(numbers: readonly number[]): string {
  const runs: { first: number; last: number }[] = []
  for (const number of numbers) {
    const run = runs.at(-1)
    if (run && number === run.last + 1) run.last = number
    else runs.push({ first: number, last: number })
  }
  return runs.map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`)).join(', ')
}
