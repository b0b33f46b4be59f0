/** Hostile bytes and errors in the data handler of a connection: they end that connection only. */
import { once } from 'node:events'
import net from 'node:net'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { temporaryDatabase } from '#test/database.ts'
import { openDatabase } from './open-database.ts'

const log = createLog('silent')

/** Replaces the answer to the statement that holds `mark` by `bytes`, on connections to a real PostgreSQL. */
async function startHostileProxy(socketPath: string, mark: string, bytes: () => Buffer) {
  const server = net.createServer((inward) => {
    const outward = net.connect(socketPath)
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
  }) // prettier-ignore
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

async function databaseBehind(bytes: () => Buffer) {
  const { connection } = await temporaryDatabase()
  const socketPath = `${connection.host ?? ''}/.s.PGSQL.${connection.port ?? 5432}`
  const port = await startHostileProxy(socketPath, 'hostile', bytes)
  const opened = openDatabase({ ...connection, host: '127.0.0.1', port }, log)
  onTestFinished(() => opened.close())
  const one = () => opened.database.asService((scope) => scope.query<{ one: number }>('select 1 as one'))
  const attack = () => opened.database.asService((scope) => scope.query('select hostile'))
  return { one, attack }
}

test('a message past the bound fails its own request before it is received', async () => {
  const { one, attack } = await databaseBehind(() => message('D', Buffer.alloc(100), 600_000_000))
  const other = one()
  await expect(attack()).rejects.toMatchObject({ code: 'too_large' })
  expect((await other).rows).toEqual([{ one: 1 }])
  expect((await one()).rows).toEqual([{ one: 1 }])
})

test('bytes that cannot be parsed fail their own request', async () => {
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
  const { one, attack } = await databaseBehind(() => bytes)
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
