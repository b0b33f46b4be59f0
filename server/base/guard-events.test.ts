import { EventEmitter, errorMonitor, once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { onFailure } from './failure-scope.ts'
import { guardEvents } from './guard-events.ts'

const reported: unknown[] = []
onFailure((error) => void reported.push(error))

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

test('the other listeners of the event are called, and the error is reported once', () => {
  reported.length = 0
  const emitter = new EventEmitter()
  const calls: unknown[] = []
  guardEvents(emitter, (error, values) => void calls.push(error, values))
  emitter.once('close', () => {
    throw new TypeError('thrown')
  })
  emitter.on('close', (code) => void calls.push(code))
  expect(emitter.emit('close', 7)).toBe(true)
  expect(emitter.emit('close', 8)).toBe(true)
  expect(calls).toEqual([new TypeError('thrown'), [7], 7, 8])
  expect(reported).toEqual([new TypeError('thrown')])
  expect(emitter.emit('nothing')).toBe(false)
})

test('an error event reaches its monitors and listeners, and without any it ends the unit', () => {
  const emitter = new EventEmitter()
  const calls: unknown[] = []
  guardEvents(emitter, (error) => void calls.push('ended', error))
  const broken = new Error('broken')
  emitter.emit('error', broken)
  emitter.on(errorMonitor, (error) => void calls.push('seen', error))
  emitter.on('error', (error) => void calls.push('handled', error))
  emitter.emit('error', broken)
  expect(calls).toEqual(['ended', broken, 'seen', broken, 'handled', broken])
})
