import { COMMAND_PATTERN, type ToolName, TOOLS } from '#contract/tools.ts'

export interface ToolCall {
  readonly name: ToolName
  readonly argument: string
}

export interface ParsedMessage {
  readonly before: string
  readonly calls: readonly ToolCall[]
  readonly text: string
}

/** Further commands of a message are plain text. */
const MAX_CALLS = 5

const COMMAND = new RegExp(`(${COMMAND_PATTERN})`)

export function parseCommands(message: string): ParsedMessage {
  const [start = '', ...rest] = message.split(COMMAND)
  const before = start.trim()
  const calls: ToolCall[] = []
  const words = [before]
  for (let index = 0; index < rest.length; index += 2) {
    const name = TOOLS.find(({ command }) => command === rest[index])?.name
    const argument = (rest[index + 1] ?? '').trim()
    if (name && calls.length < MAX_CALLS) calls.push({ name, argument })
    words.push(name === 'web' ? (splitAddress(argument)?.question ?? argument) : argument)
  }
  return { before, calls, text: words.filter((part) => part !== '').join(' ') }
}

/** The address in the argument of `@web`, and the question about the page; undefined without an address. */
export function splitAddress(argument: string): { address: string; question: string } | undefined {
  const words = argument.split(/\s+/)
  const spelled = words.findIndex((word) => word.includes('://'))
  const index = Math.max(spelled, 0)
  let word = (words[index] ?? '').replace(/^[<("'“]+|(?<![>"'”.,;:!?])[>"'”.,;:!?]+$/g, '')
  if (!word.includes('(')) word = word.replace(/\)[.,;:!?]*$/, '')
  if (!/[.:]/.test(word)) return undefined
  return { address: spelled === -1 ? `https://${word}` : word, question: words.toSpliced(index, 1).join(' ') }
}
