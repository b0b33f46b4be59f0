/**
 * Entry point: a line of JSON options, then the file, on standard input; JSON messages by line on standard output. The
 * process has no environment, network or child processes, and reads only libraries (`lock-down.ts` is loaded before).
 */
import { type FailureCode, ParseFailure } from '#server/parsing/failure.ts'
import { MAX_DOCUMENT_CHARACTERS, type ParsedPart, type ParseOptions } from '#server/parsing/page.ts'
import { loadParser } from '#server/parsing/parsers.ts'
import { endProcess } from './end-process.ts'
import { readStandardInput, writeStandardOutput } from './standard-streams.ts'

export type ParserMessage =
  { readonly part: ParsedPart } | { readonly failure: FailureCode; readonly cause?: string } | { readonly done: true }

interface Input {
  readonly options: ParseOptions
  readonly bytes: Uint8Array
}

function readInput(): Input | undefined {
  const input = readStandardInput()
  const end = input.indexOf('\n')
  if (end === -1) return undefined
  const options = JSON.parse(input.toString('utf8', 0, end)) as ParseOptions
  return { options, bytes: new Uint8Array(input.subarray(end + 1)) }
}

const send = (message: ParserMessage): void => writeStandardOutput(Buffer.from(`${JSON.stringify(message)}\n`))

async function main(mimetype: string, languages: string | undefined): Promise<void> {
  const parse = await loadParser(mimetype)
  if (languages !== undefined) {
    const { warmUpOcr } = await import('#server/parsing/ocr/recognise.ts')
    await warmUpOcr(JSON.parse(languages) as ParseOptions['languages'])
  }
  const input = readInput()
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
