/** A NATS server for tests, and the switch that makes databases and nodes of a test file notify through it. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createLog } from '#server/base/log.ts'
import { type Nats, openNats } from '#server/database/nats.ts'

/** `npm test` downloads it here unless the machine has one. */
const program = [
  process.env['NATS_SERVER'] ?? '/usr/sbin/nats-server',
  fileURLToPath(new URL('../node_modules/.cache/nats/usr/sbin/nats-server', import.meta.url)),
].find((file) => existsSync(file))

/** May be missing except on Debian; `npm test` reports it at the start. */
export const hasNats = program !== undefined

export interface NatsServer {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

/** @param args further arguments, such as `--user`. */
export async function startNatsServer({ port = -1, args = [] as readonly string[] } = {}): Promise<NatsServer> {
  const child = spawn(program ?? 'nats-server', ['--addr', '127.0.0.1', '--port', String(port), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  const listens = new Promise<number>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const found = /client connections on 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
      if (found) resolve(Number(found))
    })
  })
  const taken = await Promise.race([
    listens,
    exited.then(() => Promise.reject(new Error('nats-server ended before it listened'))),
  ])
  return {
    url: `nats://127.0.0.1:${taken}`,
    port: taken,
    async stop() {
      child.kill()
      await exited
    },
  }
}

let address: string | undefined

/** Makes databases and nodes of this file notify through the server at `url`. */
export function useNats(url: string): void {
  address = url
}

/** NATS does not preserve the commit order of different rows. */
export const isInOrder = (): boolean => address === undefined

/** Undefined with NOTIFY. */
export function openTestBus(database: string): Promise<Nats> | undefined {
  if (address === undefined) return undefined
  const key = createHash('sha256').update(database).digest()
  return openNats({ urls: [address], key, log: createLog('silent') })
}
