/** `fetch` for model servers over Node's HTTP client: the global `fetch` takes several times the processor time. */
import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sendRequest, toResponse } from './http-client.ts'
import { currentTextListener } from './text-deltas.ts'
import { wireFormatOf } from './wire-format.ts'

/** Bodies other than text, and redirects, go through the global `fetch`. @throws as `fetch` does. */
export const modelFetch: typeof fetch = async (input, init = {}) => {
  const { body, method = 'GET', signal } = init
  if (input instanceof Request || (body && typeof body !== 'string')) return fetch(input, init)
  signal?.throwIfAborted()
  try {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'gzip, br' }
    const listener = currentTextListener()
    const url = new URL(input)
    const receive = (response: IncomingMessage) => {
      const { statusCode = 0, headers: received } = response
      if (statusCode < 300 || statusCode > 399 || received.location === undefined)
        return toResponse(response, { listener, format: wireFormatOf(url) })
      response.destroy()
      return undefined
    }
    const response = await sendRequest(url, { method, headers, ...(signal ? { signal } : {}) }, receive, body)
    // Deliver text that arrived with the headers before the SDK processes the response.
    if (response && listener) await nextTurn()
    if (response) return response
  } catch (error) {
    signal?.throwIfAborted()
    throw new TypeError('fetch failed', { cause: error })
  }
  return fetch(input, init)
}
