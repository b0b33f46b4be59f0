/** A proxy that passes requests and treats WebSockets as the networks of companies do. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A status answers the upgrade; `hang` leaves it without an answer; `close` lets the socket open and closes it; `mute` lets
 * it open and passes no frames.
 */
export type SocketTreatment = 'pass' | 'hang' | 'close' | 'mute' | 403 | 404 | 502

export interface SocketlessProxy {
  readonly url: string
  /** Applies to sockets that are opened from now on. */
  treat(treatment: SocketTreatment): void
  /** Open sockets pass no frames any more, and neither side learns of it. */
  freeze(): void
  cutSockets(): void
  /** Upgrades that were asked for. */
  upgrades(): number
  close(): Promise<void>
}

export async function startSocketlessProxy(target: string): Promise<SocketlessProxy> {
  const { hostname, port } = new URL(target)
  const connections = new Set<Socket>()
  const sockets = new Map<Socket, Socket>()
  let treatment: SocketTreatment = 'pass'
  let upgrades = 0

  function join(inward: Socket, first: Buffer): Socket {
    const outward = connect(Number(port), hostname)
    connections.add(outward)
    outward.on('error', () => inward.destroy()).on('close', () => inward.destroy())
    inward.on('close', () => outward.destroy())
    outward.write(first)
    return outward
  }

  const mute = (inward: Socket, outward: Socket): void => {
    inward.unpipe(outward).resume()
    outward.unpipe(inward).resume()
  }

  function upgrade(inward: Socket, first: Buffer): void {
    upgrades += 1
    if (treatment === 'hang') return
    if (typeof treatment === 'number')
      return void inward.end(`HTTP/1.1 ${treatment} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
    const outward = join(inward, first)
    if (treatment === 'pass') {
      sockets.set(inward, outward)
      inward.on('close', () => sockets.delete(inward))
      inward.pipe(outward).pipe(inward)
      return
    }
    const closes = treatment === 'close'
    outward.once('data', (handshake: Buffer) => {
      inward.write(handshake)
      if (closes) inward.end()
      else mute(inward, outward)
    })
  }

  const server = createServer((inward) => {
    connections.add(inward)
    inward.on('error', () => inward.destroy()).on('close', () => connections.delete(inward))
    inward.once('data', (first: Buffer) => {
      if (/^upgrade: websocket/im.test(first.toString('latin1'))) return upgrade(inward, first)
      const outward = join(inward, first)
      inward.pipe(outward).pipe(inward)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    treat(wanted) {
      treatment = wanted
    },
    freeze() {
      for (const [inward, outward] of sockets) mute(inward, outward)
    },
    cutSockets() {
      for (const inward of sockets.keys()) inward.resetAndDestroy()
    },
    upgrades: () => upgrades,
    async close() {
      server.close()
      for (const socket of connections) socket.destroy()
      await once(server, 'close')
    },
  }
}
