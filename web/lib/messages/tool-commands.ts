import { COMMAND_PATTERN, type Tool, TOOLS } from '#contract/tools.ts'

/**
 * The @-token at the cursor, at the start of the text or after white space.
 */
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

/** Replaces the token by the command and a space; returns the text and the new cursor. */
export function insertCommand(text: string, token: CommandToken, command: string): { text: string; cursor: number } {
  const after = text.slice(token.end)
  const inserted = `${command} `
  return {
    text: text.slice(0, token.start) + inserted + (after.startsWith(' ') ? after.slice(1) : after),
    cursor: token.start + inserted.length,
  }
}

const COMMANDS = new RegExp(`(${COMMAND_PATTERN})`)

/** Splits text into complete tool commands and the rest. */
export function splitCommands(text: string): { text: string; isCommand: boolean }[] {
  return text
    .split(COMMANDS)
    .filter((piece) => piece !== '')
    .map((piece) => ({ text: piece, isCommand: TOOLS.some(({ command }) => command === piece) }))
}
