/** From the upload of a 100-page pdf until it is ready, against `pdftotext` of the same file (Debian: poppler-utils). */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { uploadAnswer } from '#contract/document.ts'
import { makePdf } from '#test/make-pdf.ts'
import { compared, inTurn } from './measure.ts'
import { live, startSignedIn } from './signed-in.ts'

const WORDS = 'lamp harbour keeper ledger winter stone passage window tide letter archive garden copper signal'.split(
  ' ',
)

/** Pages of plain prose; `salt` makes each file another one, so that none is recognised as known. */
function makePages(count: number, salt: number): string[] {
  const sentence = (seed: number) =>
    `${Array.from({ length: 12 }, (_, index) => WORDS[(seed * 7 + index * ((seed % 5) + 1)) % WORDS.length]).join(' ')} ${seed}.`
  return Array.from({ length: count }, (_, page) =>
    Array.from({ length: 40 }, (_line, line) => sentence(salt + page * 40 + line)).join('\n'),
  )
}

export async function run([times = '5', pages = '100']: string[]): Promise<Record<string, unknown>> {
  const session = await startSignedIn()
  const client = await session.open()
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-bench-'))
  let onReady = (_id: string): void => undefined
  const channel = client.channel('bench')
  channel.on('postgres_changes', { event: 'UPDATE', schema: 'public', table: 'documents' }, ({ new: row }) => {
    if (row['state'] === 'ready' || row['state'] === 'failed') onReady(String(row['id']))
  })
  await live(channel, { hasChanges: true })
  let salt = 0
  let file = ''

  async function throughAlcove(): Promise<number> {
    salt += 100_000
    const bytes = new Uint8Array(makePdf(makePages(Number(pages), salt)))
    file = path.join(folder, `${salt}.pdf`)
    await writeFile(file, bytes)
    const ready = Promise.withResolvers<string>()
    onReady = ready.resolve
    const form = new FormData()
    form.append('files', new Blob([bytes], { type: 'application/pdf' }), 'bench.pdf')
    const startedAt = performance.now()
    const response = await fetch(`${session.alcove.url}/api/documents`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${session.token}` },
    })
    const { documents } = uploadAnswer.parse(await response.json())
    const id = await ready.promise
    const elapsed = performance.now() - startedAt
    const { data } = await client.from('documents').select('state, pages').eq('id', id).single()
    if (documents[0]?.id !== id || data?.['state'] !== 'ready')
      throw new Error(`the document was not read: ${JSON.stringify(data)}`)
    return elapsed
  }
  async function pdftotext(): Promise<number> {
    const startedAt = performance.now()
    await promisify(execFile)('pdftotext', [file, path.join(folder, 'out.txt')])
    return performance.now() - startedAt
  }
  const measured = await inTurn(Number(times), throughAlcove, pdftotext)
  await session.close()
  await rm(folder, { recursive: true })
  return { pages: Number(pages), ...compared(measured) }
}
