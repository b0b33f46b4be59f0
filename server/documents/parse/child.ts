/**
 * The process that reads one file. It gets the bytes on standard input, answers one JSON object per line on standard
 * output, and can reach nothing else: no environment, no file but the libraries, no process, no network.
 */
import { writeSync } from 'node:fs'
import { type FailureCode, ParseFailure } from './failure.ts'
import { MAX_DOCUMENT_CHARACTERS, type ParsedPart } from './page.ts'
import { loadParser } from './parsers.ts'
import { sealNetwork } from './seal-network.ts'

/** One line of the answer. */
export type ChildMessage =
  { readonly part: ParsedPart } | { readonly failure: FailureCode; readonly cause?: string } | { readonly done: true }

async function readInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
  // pdf.js refuses Buffer, which is a view into a shared pool.
  return new Uint8Array(Buffer.concat(chunks))
}

/** Blocks while the parent is slow to read, so that pages do not pile up here. */
function send(message: ChildMessage): void {
  let rest = Buffer.from(`${JSON.stringify(message)}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
}

async function main(mimetype: string): Promise<void> {
  sealNetwork()
  try {
    const parse = await loadParser(mimetype)
    let characters = 0
    let hasText = false
    for await (const part of parse(await readInput())) {
      if ('text' in part) {
        characters += part.text.length
        hasText ||= part.text.trim() !== ''
        if (characters > MAX_DOCUMENT_CHARACTERS) throw new ParseFailure('too_large')
      }
      send({ part })
    }
    if (!hasText) throw new ParseFailure(mimetype.startsWith('image/') ? 'no_text_in_picture' : 'no_text')
    send({ done: true })
  } catch (error) {
    if (error instanceof ParseFailure) {
      send({ failure: error.code, ...(error.cause instanceof Error ? { cause: error.cause.message } : {}) })
    } else {
      send({ failure: 'damaged', cause: error instanceof Error ? error.message : String(error) })
    }
  }
}

await main(process.argv[2] ?? '')
process.exit(0)
