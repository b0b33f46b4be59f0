/** A proxy that resets every connection on demand. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  readonly url: string
  cut(): void
  /** Ends only the server's side: a sleeping page does not learn that its socket is closed. */
  abandon(): void
  refuse(isRefusing: boolean): void
  close(): Promise<void>
}

export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  const abandoned = new Set<Socket>()
  const sockets = new Set<Socket>()
  let isRefusing = false
  const server = createServer((inward) => {
    if (isRefusing) return void inward.resetAndDestroy()
    const outward = connect(Number(port), hostname)
    inward.once('data', (head: Buffer) => {
      if (/^upgrade: websocket/im.test(head.toString('latin1'))) sockets.add(outward)
    })
    for (const [socket, other] of [[inward, outward], [outward, inward]] as const) {
      open.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        sockets.delete(socket)
        if (!abandoned.delete(socket)) other.destroy()
      })
      socket.pipe(other)
    }
  }) // prettier-ignore
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    abandon() {
      for (const socket of sockets) {
        abandoned.add(socket)
        socket.destroy()
      }
    },
    refuse(wanted) {
      isRefusing = wanted
    },
    async close() {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
