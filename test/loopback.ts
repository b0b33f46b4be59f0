import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { onTestFinished } from 'vitest'

export interface Loopback {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly origin: string
  readonly server: Server
}

/** Listens on a free port until the test ends, which closes open connections. */
export async function serveLoopback(answer: RequestListener): Promise<Loopback> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return { origin: `http://127.0.0.1:${address.port}`, server }
}
