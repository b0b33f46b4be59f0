/** Hostile bytes and errors in the data handler of a connection: they end that connection only. */
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { temporaryDatabase } from '#test/database.ts'
import { certify } from '#test/self-signed-certificate.ts'
import { openDatabase } from './open-database.ts'

const log = createLog('silent')
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = privateKey.export({ type: 'pkcs8', format: 'pem' })

/** Speaks TLS for PostgreSQL: answers the request for it, and decrypts what follows. */
async function acceptTls(raw: net.Socket): Promise<TLSSocket> {
  await once(raw, 'data')
  raw.write('S')
  return new TLSSocket(raw, { isServer: true, key, cert: certify(publicKey, privateKey) })
}

/** Replaces the answer to the statement that holds `mark` by `bytes`, on connections to a real PostgreSQL. */
function relay(inward: net.Socket, outward: net.Socket, mark: string, bytes: () => Buffer): void {
  let isHostile = false
  inward.on('data', (chunk) => {
    if (chunk.includes(mark)) {
      isHostile = true
      inward.write(bytes())
    } else if (!isHostile) outward.write(chunk)
  })
  outward.on('data', (chunk) => {
    if (!isHostile) inward.write(chunk)
  })
  for (const [socket, other] of [[inward, outward], [outward, inward]] as const) {
    socket.on('error', () => other.destroy())
    socket.on('close', () => other.destroy())
  }
} // prettier-ignore

async function startHostileProxy(socketPath: string, hasTls: boolean, bytes: () => Buffer) {
  const server = net.createServer((raw) => {
    raw.on('error', () => raw.destroy())
    const begin = (inward: net.Socket) => relay(inward, net.connect(socketPath), 'hostile', bytes)
    if (hasTls) void acceptTls(raw).then(begin)
    else begin(raw)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

function message(type: string, payload: Buffer, declaredBytes = payload.length + 4): Buffer {
  const header = Buffer.alloc(5)
  header.write(type, 0, 'latin1')
  header.writeUInt32BE(declaredBytes, 1)
  return Buffer.concat([header, payload])
}

async function databaseBehind(bytes: () => Buffer, { hasTls }: { hasTls: boolean }) {
  const { connection } = await temporaryDatabase()
  const socketPath = `${connection.host ?? ''}/.s.PGSQL.${connection.port ?? 5432}`
  const port = await startHostileProxy(socketPath, hasTls, bytes)
  const ssl = hasTls ? { rejectUnauthorized: false } : false
  const opened = openDatabase({ ...connection, host: '127.0.0.1', port, ssl }, log)
  onTestFinished(() => opened.close())
  const one = () => opened.database.asService((scope) => scope.query<{ one: number }>('select 1 as one'))
  const attack = () => opened.database.asService((scope) => scope.query('select hostile'))
  return { one, attack }
}

const KINDS = [{ over: 'a plain socket', hasTls: false }, { over: 'TLS', hasTls: true }] // prettier-ignore

test.each(KINDS)('over $over, a message past the bound fails its own request before it is received', async (kind) => {
  const { one, attack } = await databaseBehind(() => message('D', Buffer.alloc(100), 600_000_000), kind)
  const other = one()
  await expect(attack()).rejects.toMatchObject({ code: 'too_large' })
  expect((await other).rows).toEqual([{ one: 1 }])
  expect((await one()).rows).toEqual([{ one: 1 }])
})

test.each(KINDS)('over $over, bytes that cannot be parsed fail their own request', async (kind) => {
  const types = [
    'D',
    'T',
    'C',
    'E',
    'Z',
    'N',
    'S',
    'K',
    'R',
    'A',
    'G',
    'H',
    'W',
    'd',
    't',
    'I',
    '1',
    '\u0000',
    '\u00ff',
  ]
  const hostile = fc.tuple(fc.constantFrom(...types), fc.uint8Array({ maxLength: 40 }))
  let bytes = Buffer.alloc(0)
  const { one, attack } = await databaseBehind(() => bytes, kind)
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 4 }), async (sent) => {
      bytes = Buffer.concat([
        ...sent.map(([type, payload]) => message(type, Buffer.from(payload))),
        message('D', Buffer.alloc(0), 0xffffffff),
      ])
      const [attacked, other] = await Promise.allSettled([attack(), one()])
      expect(attacked.status).toBe('rejected')
      expect(other).toMatchObject({ status: 'fulfilled', value: { rows: [{ one: 1 }] } })
    }),
    { seed: 27, numRuns: 60 },
  )
})

test('an error that a listener of the connection throws fails its own request', async () => {
  const { database } = await temporaryDatabase()
  const thrown = database.asService(async (scope) => {
    const { rows } = await scope.query<{ pid: number }>('select pg_backend_pid() as pid')
    expect(rows).toHaveLength(1)
    const emit: unknown = Reflect.get(pg.Client.prototype, 'emit')
    if (typeof emit !== 'function') throw new Error('a client emits nothing')
    pg.Client.prototype.emit = function throwOnNotice(event: string | symbol, ...values: unknown[]) {
      if (event === 'notice') throw new RangeError('thrown in a data handler')
      return Reflect.apply(emit, this, [event, ...values]) === true
    }
    onTestFinished(() => void Reflect.set(pg.Client.prototype, 'emit', emit))
    await scope.query(`do $$ begin raise notice 'thrown'; end $$`)
  })
  await expect(thrown).rejects.toThrow('thrown in a data handler')
  expect((await database.asService((scope) => scope.query<{ one: number }>('select 1 as one'))).rows).toEqual([
    { one: 1 },
  ])
})
