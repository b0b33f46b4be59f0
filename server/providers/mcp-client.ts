/** Client of a tool server over the Model Context Protocol. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { rejectOnFailure } from '#server/base/failure-scope.ts'
import { toStorableText } from './storable-text.ts'
import { openToolTransport, type ToolServerAddress } from './mcp-transport.ts'

export interface McpTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface ToolResult {
  readonly text: string
  readonly isError: boolean
}

export interface ToolClient {
  listTools(signal: AbortSignal): Promise<McpTool[]>
  callTool(name: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolResult>
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 15_000
const CALL_TIMEOUT_MS = 60_000
/** For all pages of the list. */
const LIST_TIMEOUT_MS = 30_000
const MAX_TOOLS = 64
/** A server may return one tool per page, or an endless list of pages. */
const MAX_PAGES = MAX_TOOLS
const MAX_DESCRIPTION_LENGTH = 1_000
const MAX_SCHEMA_LENGTH = 20_000
const MAX_RESULT_LENGTH = 1_000_000

/** Content other than text appears as its type in parentheses. */
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

async function listAllTools(client: Client, ended: AbortSignal): Promise<McpTool[]> {
  const options = {
    signal: AbortSignal.any([ended, AbortSignal.timeout(LIST_TIMEOUT_MS)]),
    timeout: CONNECT_TIMEOUT_MS,
  }
  const found = new Map<string, McpTool>()
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES && found.size < MAX_TOOLS; page += 1) {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, options)
    for (const { name, description = '', inputSchema } of tools) {
      if (JSON.stringify(inputSchema).length > MAX_SCHEMA_LENGTH) continue
      found.set(name, {
        name,
        description: toStorableText(description).slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed(),
        parameters: inputSchema,
      })
    }
    if (nextCursor === undefined || nextCursor === '') break
    cursor = nextCursor
  }
  return [...found.values()].slice(0, MAX_TOOLS)
}

/** @throws AppError that says what is wrong, or the reason of an aborted signal. */
export async function connectToolServer(
  name: string,
  address: ToolServerAddress,
  signal: AbortSignal,
): Promise<ToolClient> {
  const { Client: McpClient } = await import('@modelcontextprotocol/sdk/client/index.js')
  const client: Client = new McpClient({ name: 'alcove', version: '1.0.0' })
  const connection = await openToolTransport(name, address)
  const withExplainedErrors = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      signal.throwIfAborted()
      throw connection.toAppError(error)
    }
  }
  const close = async () => {
    await connection.endSession()
    await client.close()
  }
  try {
    await withExplainedErrors(
      rejectOnFailure((failed) => {
        // Later calls then fail: the client reports that the connection is closed.
        failed.addEventListener('abort', () => void connection.transport.close())
        return client.connect(connection.transport, { signal, timeout: CONNECT_TIMEOUT_MS })
      }),
    )
  } catch (error) {
    await close()
    throw error
  }

  return {
    listTools: (ended) => withExplainedErrors(listAllTools(client, ended)),
    async callTool(tool, input, ended) {
      const options = { signal: ended, timeout: CALL_TIMEOUT_MS }
      const result = await withExplainedErrors(client.callTool({ name: tool, arguments: input }, undefined, options))
      const content: unknown[] = Array.isArray(result.content) ? result.content : []
      const text = toStorableText(textOf(content, result.structuredContent)).slice(0, MAX_RESULT_LENGTH).toWellFormed()
      return { text: text || '(no content)', isError: result.isError === true }
    },
    close,
  }
}
