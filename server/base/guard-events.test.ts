import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { guardEvents } from './guard-events.ts'

/** An error that is not caught fails the test run. */
test('what a listener throws ends its own connection, and others are answered', async () => {
  const thrown: unknown[] = []
  const server = createServer((request, response) => {
    guardEvents(request, (error) => {
      thrown.push(error)
      response.destroy()
    })
    request.on('data', (chunk: Buffer) => {
      if (chunk.includes('hostile')) throw new RangeError('thrown in a data handler')
    })
    request.on('end', () => response.end('answered'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const send = (body: string) => fetch(`http://127.0.0.1:${port}`, { method: 'POST', body })
  const [attacked, other] = await Promise.allSettled([send('hostile'), send('honest').then((sent) => sent.text())])
  expect(attacked.status).toBe('rejected')
  expect(other).toEqual({ status: 'fulfilled', value: 'answered' })
  expect(thrown).toEqual([new RangeError('thrown in a data handler')])
})

test('the data handler of a raw socket', async () => {
  const { promise: failed, resolve } = Promise.withResolvers<unknown>()
  const server = createServer()
  server.on('connection', (socket) => {
    guardEvents(socket, (error) => {
      resolve(error)
      socket.destroy()
    })
    socket.once('close', () => undefined)
    socket.on('hostile', () => {
      throw new TypeError('thrown')
    })
    socket.emit('hostile')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.resume()
  await once(client, 'close')
  expect(await failed).toEqual(new TypeError('thrown'))
})
