/** In the composer's display order. A new row needs a case in `server/assistant/tools/external-tools.ts`. */
export const TOOLS = [
  { name: 'search', command: '@search', description: 'search for information' },
  { name: 'web', command: '@web', description: 'browse websites' },
  { name: 'knowledge', command: '@knowledge', description: 'access knowledge base' },
] as const

export type Tool = (typeof TOOLS)[number]
export type ToolName = Tool['name']

/** A command at the beginning of a text or after a blank, and not followed by a letter, digit or underscore. */
export const COMMAND_PATTERN = `(?<=^|\\s)(?:${TOOLS.map(({ command }) => command).join('|')})(?!\\w)`
