import { readFile } from 'node:fs/promises'
import { z } from 'zod'

const manifest = z.object({ version: z.string() })

export async function readProductVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return manifest.parse(JSON.parse(text)).version
}
