/** One connection to a server of tools, over the Model Context Protocol (streamable HTTP, or a command of the operator's). */
// Not `{ type … }`: without its types that is an empty import, and loads the library at every start.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { toStorableText } from './storable-text.ts'
import { openToolTransport, type ToolServerAddress } from './tool-transport.ts'

export interface ServedTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface ToolResult {
  readonly text: string
  readonly isError: boolean
}

export interface ToolClient {
  listTools(signal: AbortSignal): Promise<ServedTool[]>
  callTool(name: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolResult>
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 15_000
const CALL_TIMEOUT_MS = 60_000
/** Of all pages of a list together. */
const LIST_TIMEOUT_MS = 30_000
const MOST_TOOLS = 64
/** A server may put one tool on a page, or name a next page for ever. */
const MOST_PAGES = MOST_TOOLS
const LONGEST_DESCRIPTION = 1_000
const LONGEST_SCHEMA = 20_000
/** Far more than is shown to a model or stored. */
const LONGEST_RESULT = 1_000_000

/** The text of a result; what is no text is named, not shown. */
function textOf(content: readonly unknown[], structured: unknown): string {
  const texts = content.map((item) => {
    if (typeof item !== 'object' || item === null || !('type' in item)) return ''
    if (item.type === 'text' && 'text' in item && typeof item.text === 'string') return item.text
    if (item.type === 'resource' && 'resource' in item) {
      const { resource } = item
      if (typeof resource === 'object' && resource !== null && 'text' in resource) return String(resource.text)
    }
    return `(${String(item.type)})`
  })
  const text = texts.filter((part) => part !== '').join('\n')
  return text === '' && structured !== undefined ? JSON.stringify(structured) : text
}

async function listPages(client: Client, ended: AbortSignal): Promise<ServedTool[]> {
  const options = {
    signal: AbortSignal.any([ended, AbortSignal.timeout(LIST_TIMEOUT_MS)]),
    timeout: CONNECT_TIMEOUT_MS,
  }
  const found = new Map<string, ServedTool>()
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES && found.size < MOST_TOOLS; page += 1) {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, options)
    for (const { name, description = '', inputSchema } of tools) {
      if (JSON.stringify(inputSchema).length > LONGEST_SCHEMA) continue
      found.set(name, {
        name,
        description: toStorableText(description).slice(0, LONGEST_DESCRIPTION).toWellFormed(),
        parameters: inputSchema,
      })
    }
    if (nextCursor === undefined || nextCursor === '') break
    cursor = nextCursor
  }
  return [...found.values()].slice(0, MOST_TOOLS)
}

/** @throws AppError that says what is wrong, or the reason of an aborted signal. */
export async function connectToolServer(
  name: string,
  address: ToolServerAddress,
  signal: AbortSignal,
): Promise<ToolClient> {
  const { Client: McpClient } = await import('@modelcontextprotocol/sdk/client/index.js')
  const client: Client = new McpClient({ name: 'alcove', version: '1.0.0' })
  const way = await openToolTransport(name, address)
  const translated = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      signal.throwIfAborted()
      throw way.explain(error)
    }
  }
  const close = async () => {
    await way.leave()
    await client.close()
  }
  try {
    await translated(client.connect(way.transport, { signal, timeout: CONNECT_TIMEOUT_MS }))
  } catch (error) {
    await close()
    throw error
  }

  return {
    listTools: (ended) => translated(listPages(client, ended)),
    async callTool(tool, input, ended) {
      const options = { signal: ended, timeout: CALL_TIMEOUT_MS }
      const result = await translated(client.callTool({ name: tool, arguments: input }, undefined, options))
      const content: unknown[] = Array.isArray(result.content) ? result.content : []
      const text = toStorableText(textOf(content, result.structuredContent)).slice(0, LONGEST_RESULT).toWellFormed()
      return { text: text || '(no content)', isError: result.isError === true }
    },
    close,
  }
}
