/** A plain TCP balancer: each connection goes to the next reachable node. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Balancer {
  readonly url: string
  use(nodes: readonly string[]): void
  close(): Promise<void>
}

export async function startBalancer(): Promise<Balancer> {
  const open = new Set<Socket>()
  let nodes: readonly string[] = []
  let turn = 0

  /** Undefined if the node is unreachable. */
  async function reach(node: string): Promise<Socket | undefined> {
    const { hostname, port } = new URL(node)
    const outward = connect(Number(port), hostname)
    const isReached = await once(outward, 'connect').then(
      () => true,
      () => false,
    )
    return isReached ? outward : undefined
  }

  async function carry(inward: Socket): Promise<void> {
    open.add(inward)
    inward.on('error', () => inward.destroy()).on('close', () => open.delete(inward))
    turn += 1
    for (let tried = 0; tried < nodes.length; tried += 1) {
      const outward = await reach(nodes[(turn + tried) % nodes.length] ?? '')
      if (!outward) continue
      outward.on('error', () => inward.destroy()).on('close', () => inward.destroy())
      inward.on('close', () => outward.destroy())
      if (inward.destroyed) outward.destroy()
      inward.pipe(outward).pipe(inward)
      return
    }
    inward.resetAndDestroy()
  }

  const server = createServer((inward) => void carry(inward))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use(wanted) {
      nodes = wanted
    },
    async close() {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
  }
}
