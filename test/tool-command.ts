/** An MCP server over standard input and output, as a process. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

const server = new McpServer({ name: 'command', version: '1.0.0' })
server.registerTool('hello', { description: 'Greets.' }, () => ({
  content: [
    {
      type: 'text',
      text: `Hello from a command, which sees ${Object.keys(process.env).includes('ALCOVE_SECRET') ? 'the secret' : 'no secret'}.`,
    },
  ],
}))
await server.connect(new StdioServerTransport())
