import { expect, test } from 'vitest'
import { onFailure } from '#server/base/failure-scope.ts'
import { serveLoopback } from '#test/loopback.ts'
import { sendRequest, toResponse } from './http-client.ts'

onFailure(() => undefined)

const THROWN = new RangeError('thrown in a listener')
const throwError = () => {
  throw THROWN
}

const startServer = () =>
  serveLoopback((_request, response) => {
    response.write('first')
    response.end('second')
  })

test('what a listener of a response throws fails that response, and other requests of the agent are answered', async () => {
  const { origin } = await startServer()
  const read = async (listen: boolean) => {
    const response = await sendRequest(new URL(origin), {}, (received) => {
      if (listen) received.prependListener('data', throwError)
      return toResponse(received, { format: undefined })
    })
    return response.text()
  }
  const [attacked, other] = await Promise.allSettled([read(true), read(false)])
  expect(attacked).toMatchObject({ status: 'rejected', reason: THROWN })
  expect(other).toEqual({ status: 'fulfilled', value: 'firstsecond' })
  expect(await read(false)).toBe('firstsecond')
})

test('what the receiver of the headers throws rejects its request', async () => {
  const { origin } = await startServer()
  await expect(sendRequest(new URL(origin), {}, throwError)).rejects.toBe(THROWN)
  const response = await sendRequest(new URL(origin), {}, (received) => toResponse(received, { format: undefined }))
  expect(await response.text()).toBe('firstsecond')
})
