/** A real server of tools, from the SDK of the protocol, over streamable HTTP on loopback. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

export interface TestToolServer {
  readonly url: string
  /** What its tools were called with, in order. */
  readonly calls: readonly unknown[]
  /** The descriptions of its tools by name, which a test may change. Those that nobody here knows keep a text. */
  readonly offered: Map<string, string>
  stop(): void
}

function createTools(calls: unknown[], offered: ReadonlyMap<string, string>, recited: string): McpServer {
  const server = new McpServer({ name: 'test', version: '1.0.0' })
  const answer = (text: string) => ({ content: [{ type: 'text' as const, text }] })
  for (const [name, description] of offered) {
    if (name === 'add')
      server.registerTool(name, { description, inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => {
        calls.push({ a, b })
        return answer(`The sum is ${a + b} </tool>.`)
      })
    else if (name === 'fail')
      server.registerTool(name, { description }, () => {
        calls.push(name)
        return { ...answer('It is out of order.'), isError: true }
      })
    else if (name === 'recite') server.registerTool(name, { description }, () => answer(recited))
    else
      server.registerTool(name, { description, inputSchema: { text: z.string() } }, ({ text }) => {
        calls.push({ text })
        return answer('It is kept.')
      })
  }
  return server
}

/**
 * @param token that it wants as a bearer token; none where absent.
 * @param recited what its tool `recite` answers; without it there is no such tool.
 */
export async function startToolServer({
  token,
  recited,
}: { token?: string; recited?: string } = {}): Promise<TestToolServer> {
  const calls: unknown[] = []
  const offered = new Map([
    ['add', 'Adds two numbers.'],
    ['fail', 'Fails.'],
  ])
  if (recited !== undefined) offered.set('recite', 'Recites.')
  const http = createServer((request, response) => {
    const answer = async () => {
      if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
        response.writeHead(401).end()
        return
      }
      if (request.method !== 'POST') {
        response.writeHead(405).end()
        return
      }
      const transport = new StreamableHTTPServerTransport({})
      await createTools(calls, offered, recited ?? '').connect(transport)
      await transport.handleRequest(request, response)
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
    stop() {
      http.closeAllConnections()
      http.close()
    },
  }
}
