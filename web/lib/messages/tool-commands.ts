import { COMMAND_PATTERN, type Tool, TOOLS } from '#contract/tools.ts'

export type CommandToken = { start: number; end: number; typed: string }

export function commandTokenAt(text: string, cursor: number): CommandToken | null {
  const typed = /(?:^|\s)(@\w*)$/.exec(text.slice(0, cursor))?.[1]
  if (typed === undefined) return null
  const rest = /^\w*/.exec(text.slice(cursor))?.[0] ?? ''
  return { start: cursor - typed.length, end: cursor + rest.length, typed }
}

export function matchingCommands(token: CommandToken | null): readonly Tool[] {
  if (token === null) return []
  return TOOLS.filter(({ command }) => command.startsWith(token.typed.toLowerCase()))
}

export function insertCommand(text: string, token: CommandToken, command: string): { text: string; cursor: number } {
  const after = text.slice(token.end)
  const inserted = `${command} `
  return {
    text: text.slice(0, token.start) + inserted + (after.startsWith(' ') ? after.slice(1) : after),
    cursor: token.start + inserted.length,
  }
}

const COMMANDS = new RegExp(`(${COMMAND_PATTERN})`)

export function splitCommands(text: string): { text: string; isCommand: boolean }[] {
  return text
    .split(COMMANDS)
    .filter((piece) => piece !== '')
    .map((piece) => ({ text: piece, isCommand: TOOLS.some(({ command }) => command === piece) }))
}
