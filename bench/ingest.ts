/** From the upload of a 100-page pdf until it is ready, against parsing the file alone: `ingest [times] [pages]`. */
import { readDocument } from '#test/read-document.ts'
import { makeLongPdf } from './long-pdf.ts'
import { compared, inTurn } from './measure.ts'
import { startSignedIn } from './signed-in.ts'
import { watchLibrary } from './watched-library.ts'

export async function run([times = '5', pages = '100']: string[]): Promise<Record<string, unknown>> {
  const session = await startSignedIn()
  const library = await watchLibrary(session, await session.open())
  let salt = 0
  let bytes = new Uint8Array()

  async function throughAlcove(): Promise<number> {
    salt += 100_000
    bytes = makeLongPdf(Number(pages), salt)
    const startedAt = performance.now()
    const { documents } = await library.upload([{ name: 'bench.pdf', bytes }])
    const row = await library.ended(documents[0]?.id ?? '')
    const elapsed = performance.now() - startedAt
    if (row.state !== 'ready') throw new Error(`the document was not read: ${JSON.stringify(row)}`)
    return elapsed
  }
  async function parsingAlone(): Promise<number> {
    const startedAt = performance.now()
    await readDocument(bytes, 'bench.pdf')
    return performance.now() - startedAt
  }
  await inTurn(1, throughAlcove, parsingAlone)
  const measured = await inTurn(Number(times), throughAlcove, parsingAlone)
  await session.close()
  return { pages: Number(pages), ...compared(measured) }
}
