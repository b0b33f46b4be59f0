import type { Parser, ParseOptions } from '#server/parsing/page.ts'
import { endProcess } from './end-process.ts'
import { keepTimersReferenced, noteGlobalState } from './left-behind.ts'
import { ALLOWED_MODULES } from './lock-down.ts'
import { type ParserInput, parseToMessages, sendLostPromise, sendMessage } from './parse-messages.ts'
import { readExactly, readLine } from './standard-streams.ts'

/** A line of JSON before each file. */
export interface FileHeader {
  readonly options: ParseOptions
  readonly size: number
}

function readInput(): ParserInput | undefined {
  const line = readLine()
  if (line === undefined) return undefined
  const { options, size } = JSON.parse(line) as FileHeader
  const bytes = readExactly(size)
  return bytes && { options, bytes }
}

/**
 * Reads files from standard input until it ends, each once nothing of the file before waits to run. Returns early after an
 * unforeseen error, or when a file changed what a later one would meet: the process must then end. It never becomes ready
 * again while a timer goes on, and ends by itself at a rejection that nothing handles.
 */
export async function readFiles(load: () => Promise<Parser>): Promise<void> {
  keepTimersReferenced()
  let onIdle: (() => void) | undefined
  process.on('beforeExit', () => {
    if (onIdle === undefined) {
      sendLostPromise()
      endProcess()
    }
    // From a turn of the loop, which Node would end after this event.
    setImmediate(onIdle)
    onIdle = undefined
  })
  const parse = await load()
  const hasChangedGlobals = noteGlobalState(ALLOWED_MODULES)
  for (let input = readInput(); input; input = readInput()) {
    const endedAsForeseen = await parseToMessages(parse, input)
    // A parser may have transferred the buffer, which is then empty.
    input.bytes.fill(0)
    await new Promise<void>((resolve) => (onIdle = resolve))
    if (!endedAsForeseen || hasChangedGlobals()) return
    sendMessage({ ready: true })
  }
}
