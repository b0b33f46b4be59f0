/**
 * Entry point of a process for one file: a line of JSON options, then the file, on standard input; JSON messages by line
 * on standard output. The process has no environment, network or child processes, and reads only libraries (`lock-down.ts`
 * is loaded before).
 */
import { endProcess } from '#server/parsing/sandbox/end-process.ts'
import { type ParserInput, parseToMessages, sendLostPromise } from '#server/parsing/sandbox/parse-messages.ts'
import { readStandardInput } from '#server/parsing/sandbox/standard-streams.ts'
import type { ParseOptions } from './page.ts'
import { loadParser } from './parsers.ts'

function readInput(): ParserInput | undefined {
  const input = readStandardInput()
  const end = input.indexOf('\n')
  if (end === -1) return undefined
  const options = JSON.parse(input.toString('utf8', 0, end)) as ParseOptions
  return { options, bytes: new Uint8Array(input.subarray(end + 1)) }
}

async function main(mimetype: string, languages: string | undefined): Promise<void> {
  const parse = await loadParser(mimetype)
  if (languages !== undefined) {
    const { warmUpOcr } = await import('#server/parsing/ocr/recognise.ts')
    await warmUpOcr(JSON.parse(languages) as ParseOptions['languages'])
  }
  const input = readInput()
  if (input) await parseToMessages(parse, input)
}

process.once('beforeExit', () => {
  sendLostPromise()
  endProcess()
})
const [, , mimetype = '', languages] = process.argv
await main(mimetype, languages)
endProcess()
