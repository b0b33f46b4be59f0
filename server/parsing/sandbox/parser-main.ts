/**
 * Entry point: a line of JSON options, then the file, on standard input; JSON messages by line on standard output. The
 * process has no environment, network or child processes, and reads only libraries.
 */
import { writeSync } from 'node:fs'
import { type FailureCode, ParseFailure } from '#server/parsing/failure.ts'
import { MAX_DOCUMENT_CHARACTERS, type ParsedPart, type ParseOptions } from '#server/parsing/page.ts'
import { loadParser } from '#server/parsing/parsers.ts'
import { blockNetwork } from './block-network.ts'
import { endProcess } from './end-process.ts'

export type ParserMessage =
  { readonly part: ParsedPart } | { readonly failure: FailureCode; readonly cause?: string } | { readonly done: true }

interface Input {
  readonly options: ParseOptions
  readonly bytes: Uint8Array
}

async function readInput(): Promise<Input | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
  const input = Buffer.concat(chunks)
  const end = input.indexOf('\n')
  if (end === -1) return undefined
  const options = JSON.parse(input.toString('utf8', 0, end)) as ParseOptions
  return { options, bytes: new Uint8Array(input.subarray(end + 1)) }
}

/** Blocks while the parent is slow to read: unsent pages would fill the memory. */
function send(message: ParserMessage): void {
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

async function main(mimetype: string, languages: string | undefined): Promise<void> {
  blockNetwork()
  const parse = await loadParser(mimetype)
  if (languages !== undefined) {
    const { warmUpOcr } = await import('#server/parsing/ocr/recognise.ts')
    await warmUpOcr(JSON.parse(languages) as ParseOptions['languages'])
  }
  const input = await readInput()
  if (!input) return
  try {
    let characters = 0
    for await (const part of parse(input.bytes, input.options)) {
      if ('text' in part) {
        characters += part.text.length
        if (characters > MAX_DOCUMENT_CHARACTERS) throw new ParseFailure('too_large')
      }
      send({ part })
    }
    send({ done: true })
  } catch (error) {
    if (error instanceof ParseFailure) {
      send({ failure: error.code, ...(error.cause instanceof Error ? { cause: error.cause.message } : {}) })
    } else {
      send({ failure: 'damaged', cause: error instanceof Error ? error.message : String(error) })
    }
  }
}

// An empty event loop before the end means that a library lost a promise: the file is damaged, a retry cannot help.
process.once('beforeExit', () => {
  send({ failure: 'damaged', cause: 'the reader waits for what never comes' })
  endProcess()
})
const [, , mimetype = '', languages] = process.argv
await main(mimetype, languages)
endProcess()
