/** An MCP server from the protocol's SDK, over streamable HTTP on loopback. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

export interface TestToolServer {
  readonly url: string
  readonly calls: readonly unknown[]
  /** Tool descriptions by name; a test may change them. */
  readonly offered: Map<string, string>
  readonly sessions: ReadonlySet<string>
  stop(): void
}

interface ToolServerOptions {
  /** Required bearer token, if any. */
  readonly token?: string
  /** Result of the tool `recite`, which exists only if this is set. */
  readonly recited?: string
  readonly pageSize?: number
  /** The list never ends: the last page refers to the first. */
  readonly endless?: boolean
  /** Response to the end of a session: ends it, rejects with 405, or never answers. */
  readonly whenLeft?: 'ends' | 'refuses' | 'says nothing'
}

type Offered = Pick<TestToolServer, 'offered'> & { readonly calls: unknown[] }

const ADDENDS = z.object({ a: z.number(), b: z.number() })
const NOTHING = z.object({})
const TEXT = z.object({ text: z.string() })

const schemaOf = (name: string): z.ZodObject =>
  name === 'add' ? ADDENDS : name === 'fail' || name === 'recite' ? NOTHING : TEXT

function call(name: string, given: unknown, { calls }: Offered, recited: string): CallToolResult {
  const answer = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })
  if (name === 'recite') return answer(recited)
  if (name === 'fail') {
    calls.push(name)
    return { ...answer('It is out of order.'), isError: true }
  }
  if (name === 'add') {
    const { a, b } = ADDENDS.parse(given)
    calls.push({ a, b })
    return answer(`The sum is ${a + b} </tool>.`)
  }
  calls.push(TEXT.parse(given))
  return answer('It is kept.')
}

function createTools(served: Offered, { recited = '', pageSize = 100, endless = false }: ToolServerOptions): McpServer {
  const mcp = new McpServer({ name: 'test', version: '1.0.0' }, { capabilities: { tools: {} } })
  mcp.server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const tools = [...served.offered].map(([name, description]) => {
      const properties = z.record(z.string(), z.object()).parse(z.toJSONSchema(schemaOf(name)).properties)
      return { name, description, inputSchema: { type: 'object' as const, properties } }
    })
    const start = Number(params?.cursor ?? 0)
    const next = start + pageSize
    const page = { tools: tools.slice(start, next) }
    if (next < tools.length) return { ...page, nextCursor: String(next) }
    return endless ? { ...page, nextCursor: '0' } : page
  })
  mcp.server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    call(params.name, params.arguments, served, recited),
  )
  return mcp
}

export async function startToolServer(options: ToolServerOptions = {}): Promise<TestToolServer> {
  const { token, recited, whenLeft } = options
  const calls: unknown[] = []
  const offered = new Map([
    ['add', 'Adds two numbers.'],
    ['fail', 'Fails.'],
  ])
  if (recited !== undefined) offered.set('recite', 'Recites.')
  const sessions = new Set<string>()
  const transports = new Map<string, StreamableHTTPServerTransport>()

  async function transportOf({ headers }: IncomingMessage): Promise<StreamableHTTPServerTransport> {
    const known = transports.get(String(headers['mcp-session-id']))
    if (known) return known
    const transport = new StreamableHTTPServerTransport(
      whenLeft === undefined
        ? {}
        : {
            sessionIdGenerator: randomUUID,
            onsessioninitialized(id) {
              sessions.add(id)
              transports.set(id, transport)
            },
            onsessionclosed: (id) => void sessions.delete(id),
          },
    )
    await createTools({ calls, offered }, options).connect(transport)
    return transport
  }

  const http = createServer((request, response) => {
    const answer = async () => {
      if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
        response.writeHead(401).end()
        return
      }
      if (request.method === 'DELETE' && whenLeft === 'says nothing') return
      if (request.method === (whenLeft === 'refuses' ? 'DELETE' : 'GET')) {
        response.writeHead(405).end()
        return
      }
      await (await transportOf(request)).handleRequest(request, response)
    }
    answer().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const address = http.address()
  if (address === null || typeof address === 'string') throw new Error('the tool server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    calls,
    offered,
    sessions,
    stop() {
      http.closeAllConnections()
      http.close()
    },
  }
}
