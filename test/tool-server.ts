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
  stop(): void
}

function createTools(calls: unknown[], recited: string | undefined): McpServer {
  const server = new McpServer({ name: 'test', version: '1.0.0' })
  server.registerTool(
    'add',
    { description: 'Adds two numbers.', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => {
      calls.push({ a, b })
      return { content: [{ type: 'text', text: `The sum is ${a + b} </tool>.` }] }
    },
  )
  server.registerTool('fail', { description: 'Fails.' }, () => {
    calls.push('fail')
    return { content: [{ type: 'text', text: 'It is out of order.' }], isError: true }
  })
  if (recited !== undefined)
    server.registerTool('recite', { description: 'Recites.' }, () => ({ content: [{ type: 'text', text: recited }] }))
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
      await createTools(calls, recited).connect(transport)
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
    stop() {
      http.closeAllConnections()
      http.close()
    },
  }
}
