/** A reverse proxy that serves several programs below paths of one host, with their sockets. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

interface ProxiedPath {
  readonly path: string
  readonly port: number
  /** Whether the program receives requests without the path. */
  readonly isRemoved: boolean
}

export interface PathProxy {
  readonly url: string
  /** Targets that no program has. */
  readonly strays: readonly string[]
  close(): Promise<void>
}

/** A port that was free a moment ago, for a program whose address must be known before it starts. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export async function startPathProxy(paths: readonly ProxiedPath[]): Promise<PathProxy> {
  const strays: string[] = []
  const routeOf = ({ url = '/' }: IncomingMessage) => {
    const found = paths.find(({ path }) => url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`))
    if (found === undefined) strays.push(url)
    return found && { port: found.port, target: (found.isRemoved ? url.slice(found.path.length) : url) || '/' }
  }
  const server = createServer((incoming, outgoing) => {
    const route = routeOf(incoming)
    if (route === undefined) return outgoing.writeHead(502).end()
    const { method, headers } = incoming
    const sent = request({ host: '127.0.0.1', port: route.port, path: route.target, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => sent.destroy())
    return incoming.pipe(sent)
  })
  server.on('upgrade', (incoming, socket, head) => {
    const route = routeOf(incoming)
    socket.on('error', () => socket.destroy())
    if (route === undefined) return socket.destroy()
    const outward = connect(route.port, '127.0.0.1')
    outward.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('close', () => outward.destroy())
    const lines = [`${incoming.method ?? 'GET'} ${route.target} HTTP/1.1`]
    for (let index = 0; index < incoming.rawHeaders.length; index += 2)
      lines.push(`${incoming.rawHeaders[index] ?? ''}: ${incoming.rawHeaders[index + 1] ?? ''}`)
    outward.write(`${lines.join('\r\n')}\r\n\r\n`)
    outward.write(head)
    socket.pipe(outward).pipe(socket)
    return undefined
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    strays,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
