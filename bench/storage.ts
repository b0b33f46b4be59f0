/**
 * 25 MB through `/storage/v1` by the official client, up and down, against a bare server that streams to a file and
 * back; and the growth of the server's memory.
 */
import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient } from '@supabase/supabase-js'
import { inTurn, median, rounded, timed } from './measure.ts'
import { peakKib, resetPeak } from './process-memory.ts'
import { openServices, tokenOf } from './services.ts'

const BYTES = 25_000_000
const BUCKET = `
  insert into storage.buckets (id, name) values ('bench', 'bench');
  create policy "owner does everything" on storage.objects to authenticated
    using (bucket_id = 'bench') with check (bucket_id = 'bench')`

export async function run([times = '12']: string[]): Promise<Record<string, unknown>> {
  const { alcove, dataDir, anonKey, close } = await openServices(BUCKET)
  const token = await tokenOf(randomUUID())
  const files = createClient(alcove.url, anonKey, { accessToken: () => Promise.resolve(token) }).storage.from('bench')

  const script = fileURLToPath(new URL('./bare-files.ts', import.meta.url))
  const bare = spawn(process.execPath, [script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [address] = (await once(createInterface({ input: bare.stdout }), 'line')) as [string]

  const bytes = randomBytes(BYTES)
  const upload = async () => {
    const { error } = await files.upload('file', bytes, { contentType: 'application/octet-stream', upsert: true })
    if (error) throw error
  }
  const download = async () => {
    const { data, error } = await files.download('file')
    if (error) throw error
    if ((await data.arrayBuffer()).byteLength !== BYTES) throw new Error('not all bytes came')
  }
  const uploadBare = async () => {
    if (!(await fetch(address, { method: 'POST', body: bytes })).ok) throw new Error('the bare server failed')
  }
  const downloadBare = async () => {
    const blob = await (await fetch(address)).blob()
    if ((await blob.arrayBuffer()).byteLength !== BYTES) throw new Error('not all bytes came')
  }
  await inTurn(2, () => timed(upload), () => timed(uploadBare)) // prettier-ignore
  await inTurn(2, () => timed(download), () => timed(downloadBare)) // prettier-ignore

  await resetPeak(alcove.pid)
  const before = await peakKib(alcove.pid)
  const up = await inTurn(Number(times), () => timed(upload), () => timed(uploadBare)) // prettier-ignore
  const afterUploads = await peakKib(alcove.pid)
  const down = await inTurn(Number(times), () => timed(download), () => timed(downloadBare)) // prettier-ignore
  const afterDownloads = await peakKib(alcove.pid)
  bare.kill()
  await close()
  const perS = (milliseconds: readonly number[]) => rounded(BYTES / 1000 / median(milliseconds), 0)
  return {
    uploadMbPerS: perS(up.ours),
    bareUploadMbPerS: perS(up.baseline),
    uploadShare: rounded(median(up.baseline) / median(up.ours)),
    downloadMbPerS: perS(down.ours),
    bareDownloadMbPerS: perS(down.baseline),
    downloadShare: rounded(median(down.baseline) / median(down.ours)),
    goalShare: 0.6,
    grownMib: rounded((afterDownloads - before) / 1024, 1),
    grownByUploadsMib: rounded((afterUploads - before) / 1024, 1),
    goalMib: 32,
  }
}
