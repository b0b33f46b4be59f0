import { type FailureCode, ParseFailure } from '#server/parsing/failure.ts'
import { MAX_DOCUMENT_CHARACTERS, type ParsedPart, type ParseOptions, type Parser } from '#server/parsing/page.ts'
import { writeStandardOutput } from './standard-streams.ts'

export type ParserMessage =
  | { readonly part: ParsedPart }
  | { readonly failure: FailureCode; readonly cause?: string }
  | { readonly done: true }
  /** After the end of a file: the process has put its state in order and may read another. */
  | { readonly ready: true }

export interface ParserInput {
  readonly options: ParseOptions
  readonly bytes: Uint8Array
}

export const sendMessage = (message: ParserMessage): void =>
  writeStandardOutput(Buffer.from(`${JSON.stringify(message)}\n`))

/** Sends the parts of a file, then its end. Returns false after an error that no parser foresees. */
export async function parseToMessages(parse: Parser, { bytes, options }: ParserInput): Promise<boolean> {
  try {
    let characters = 0
    for await (const part of parse(bytes, options)) {
      if ('text' in part) {
        characters += part.text.length
        if (characters > MAX_DOCUMENT_CHARACTERS) throw new ParseFailure('too_large')
      }
      sendMessage({ part })
    }
    sendMessage({ done: true })
    return true
  } catch (error) {
    if (error instanceof ParseFailure) {
      sendMessage({ failure: error.code, ...(error.cause instanceof Error ? { cause: error.cause.message } : {}) })
      return true
    }
    sendMessage({ failure: 'damaged', cause: error instanceof Error ? error.message : String(error) })
    return false
  }
}

/** For an empty event loop before the end: a library lost a promise, the file is damaged, and a retry cannot help. */
export const sendLostPromise = (): void =>
  sendMessage({ failure: 'damaged', cause: 'the reader waits for what never comes' })
