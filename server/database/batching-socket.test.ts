import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { createBatchingSocket } from './batching-socket.ts'

test('sends the writes of one turn together and in order, also before an end', async () => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[net.Socket]>
  const socket = createBatchingSocket()
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [[peer]] = await Promise.all([accepted, once(socket, 'connect')])
  const arrived = text(peer)
  const [inOne, alone] = [vi.spyOn(socket, '_writev'), vi.spyOn(socket, '_write')]

  socket.write('begin;')
  socket.write(Buffer.from('select;'))
  await new Promise((resolve) => socket.write('commit;', resolve))
  expect([inOne.mock.calls.length, alone.mock.calls.length]).toEqual([1, 0])

  await new Promise((resolve) => socket.write('alone;', 'utf8', resolve))
  socket.write('last;')
  socket.end('end')
  expect(await arrived).toBe('begin;select;commit;alone;last;end')
  server.close()
})
