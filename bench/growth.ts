/**
 * Figures that may hardly grow with what people have stored: `npm run bench -- growth [part …]`, with the parts of
 * `PARTS`, by default all. The environment may set other sizes, as `FILES=10000`.
 */
import { measureDocuments } from './growth-documents.ts'
import { measureFirstTexts, measureOffice, measureTexts } from './growth-files.ts'
import { measurePage, measureSearches } from './growth-page.ts'
import { measureIdle, measureSearch } from './growth-stored.ts'

const sizeOf = (name: string, usual: number): number => Number(process.env[name] ?? usual)

const PARTS: Readonly<Record<string, () => Promise<Record<string, unknown>>>> = {
  page: () => measurePage(sizeOf('ROWS', 10_000)),
  boxes: () => measureSearches(sizeOf('ROWS', 10_000)),
  documents: () => measureDocuments(),
  texts: () => measureTexts(sizeOf('FILES', 1_000)),
  office: () => measureOffice({ docx: sizeOf('DOCX', 200), pdf: sizeOf('PDF', 100) }),
  'first-text': () => measureFirstTexts(sizeOf('FILES', 1_000)),
  search: () => measureSearch(sizeOf('PASSAGES', 200_000)),
  idle: () => measureIdle(sizeOf('PEOPLE', 1_000)),
}

export async function run(parts: string[]): Promise<Record<string, unknown>> {
  const measured: Record<string, unknown> = {}
  for (const name of parts.length > 0 ? parts : Object.keys(PARTS)) {
    const measure = PARTS[name]
    if (!measure) throw new Error(`There is no part ${name}: ${Object.keys(PARTS).join(', ')}.`)
    measured[name] = await measure()
    console.error(name, JSON.stringify(measured[name]))
  }
  return measured
}
