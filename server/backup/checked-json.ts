/** Files of one line of JSON and one with its SHA-256, so that damage shows where nothing else records a hash. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

const digest = (json: string): string => createHash('sha256').update(json).digest('hex')

export function renderChecked(value: unknown): AsyncIterable<Buffer> {
  const json = JSON.stringify(value)
  return Readable.from([Buffer.from(`${json}\n${digest(json)}\n`)])
}

/** @returns undefined for a damaged text */
export function parseChecked(text: string): unknown {
  const [json = ''] = text.split('\n', 1)
  return text === `${json}\n${digest(json)}\n` ? JSON.parse(json) : undefined
}
