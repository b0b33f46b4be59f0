/**
 * `fetch` for the servers of models, over Node's own HTTP client: the global one spends several times the processor time
 * on each request, which is most of what a question costs before its first word.
 */
import { type IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sendRequest, toResponse } from './http-client.ts'
import { textListener } from './stream-text.ts'

/**
 * Texts to an address, and whatever comes back. What it does not know how to send, and what is to be found elsewhere, is
 * left to the global `fetch`.
 * @throws TypeError `fetch failed` with its cause, as `fetch` does, or the reason of an aborted signal.
 */
export const modelFetch: typeof fetch = async (input, init = {}) => {
  const { body, method = 'GET', signal } = init
  if (input instanceof Request || (body && typeof body !== 'string')) return fetch(input, init)
  signal?.throwIfAborted()
  try {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'gzip, br' }
    const listener = textListener()
    const receive = (response: IncomingMessage) => {
      const { statusCode = 0, headers: received } = response
      if (statusCode < 300 || statusCode > 399 || received.location === undefined)
        return toResponse(response, { listener })
      response.destroy()
      return undefined
    }
    const response = await sendRequest(
      new URL(input),
      { method, headers, ...(signal ? { signal } : {}) },
      receive,
      body,
    )
    // What the SDK makes of a beginning takes longer than all the rest: words that came with it go out before.
    if (response && listener) await nextTurn()
    if (response) return response
  } catch (error) {
    signal?.throwIfAborted()
    throw new TypeError('fetch failed', { cause: error })
  }
  return fetch(input, init)
}
