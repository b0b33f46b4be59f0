/** Serves the browser client from its sources with hot reload, for `npm run dev`. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Paths of the server; Vite serves all others. */
const SERVER_PATHS = /^\/(auth\/v1|rest\/v1|realtime\/v1|storage\/v1|api|healthz|metrics|config\.json|mailbox)/

const root = fileURLToPath(new URL('../..', import.meta.url))

export async function serveFromSources(server: Server, edges: Handler) {
  const vite = await createServer({
    configFile: `${root}vite.config.ts`,
    appType: 'custom',
    server: { middlewareMode: { server }, hmr: { server } },
  })
  const handle: Handler = (request, response) => {
    const url = request.url ?? '/'
    if (SERVER_PATHS.test(url)) return edges(request, response)
    vite.middlewares(request, response, () => {
      void readFile(`${root}web/index.html`, 'utf8')
        .then((html) => vite.transformIndexHtml(url, html))
        .then((html) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html))
        .catch((error: unknown) => response.writeHead(500).end(String(error)))
    })
    return undefined
  }
  return { handle, close: () => vite.close() }
}
