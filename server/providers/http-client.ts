/** Requests over Node's own HTTP client, and what it receives as `fetch` gives it. */
import { type IncomingMessage, request as requestHttp, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError, codeOf } from '#server/base/errors.ts'
import { createTextTap, textListener, type TextListener, type TextTap } from './stream-text.ts'

/**
 * Resolves with what is made of the answer, whatever its status.
 * @param receive is given its beginning in the turn in which that comes. What it throws, this rejects with.
 */
export function sendRequest<T>(
  url: URL,
  options: RequestOptions,
  receive: (response: IncomingMessage) => T,
  body?: string | Buffer | null,
): Promise<T> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const request = send(url, options)
    let isAnswered = false
    request.once('response', (response) => {
      isAnswered = true
      resolve(new Promise((received) => received(receive(response))))
    })
    request.on('error', (error) => {
      // The server has closed a connection that was kept, just when it was to be used again: it has read nothing.
      const isStale = !isAnswered && request.reusedSocket && codeOf(error) === 'ECONNRESET'
      if (isStale) resolve(sendRequest(url, options, receive, body))
      else reject(error)
    })
    request.end(body)
  })
}

interface Reading extends Pick<Passage, 'check'> {
  /** Who wants the text of events. */
  readonly listener?: TextListener | undefined
}

const WITHOUT_BODY = new Set([204, 205, 304])

/**
 * The bytes as they were before they were packed.
 * @throws AppError `unsupported_type` where the packing is not known.
 */
export function decoded(response: IncomingMessage): Readable {
  const decoders = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return response
  const found = Object.entries(decoders).find(([name]) => name === encoding)
  if (!found) {
    // Nobody will read it: its server may keep the connection open for ever.
    response.destroy()
    throw new AppError('unsupported_type', `The page is packed in a way that is not known (${encoding}).`)
  }
  // One ends with the other; whoever reads hears why.
  return pipeline(response, found[1](), () => undefined)
}

/**
 * Its body is read as it comes, and after its first piece no faster than it is asked for; events without their text, where
 * somebody listens to it.
 */
export function toResponse(response: IncomingMessage, { check, listener = textListener() }: Reading = {}): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
  const headers = new Headers()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // What is handed on is unpacked, so its length and its packing are no longer those.
    if (!/^content-(?:encoding|length)$/i.test(name)) headers.append(name, rawHeaders[index + 1] ?? '')
  }
  if (WITHOUT_BODY.has(status)) {
    response.resume()
    return new Response(null, { status, statusText, headers })
  }
  const isTold = status < 300 && headers.get('content-type')?.startsWith('text/event-stream') === true
  const body = streamOf(decoded(response), { check, tap: isTold && listener ? createTextTap(listener) : undefined })
  return new Response(body, { status, statusText, headers })
}

interface Passage {
  /** Is given the count of bytes so far; what it throws breaks the answer off. */
  readonly check?: ((bytes: number) => void) | undefined
  readonly tap?: TextTap | undefined
}

// Node's own bridges read through an async iterator or a second queue: several turns and promises for each token.
export function streamOf(bytes: Readable, { check, tap }: Passage): ReadableStream<Uint8Array> {
  let count = 0
  let [isOver, isHeld, hasEnded] = [false, false, false]
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const give = (chunk: Uint8Array | undefined) => {
          if (chunk === undefined || isOver) return
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) bytes.pause()
        }
        const fail = (error: unknown) => {
          isOver = true
          controller.error(error)
        }
        // Nobody would catch what these throw.
        const attempt = (step: () => void) => {
          if (isOver) return
          try {
            step()
          } catch (error) {
            fail(error)
            bytes.destroy()
          }
        }
        const end = () => {
          give(tap?.end())
          controller.close()
        }
        const take = (chunk: Uint8Array) => {
          check?.((count += chunk.length))
          if (!tap) return give(chunk)
          const { left, paused } = tap.take(chunk)
          if (!paused) return give(left)
          // What the SDK makes of an end takes longer than all the rest: the last words go out before it.
          bytes.pause()
          isHeld = true
          const goOn = () =>
            attempt(() => {
              isHeld = false
              give(left)
              if (hasEnded) end()
            })
          paused.then(goOn, fail)
        }
        bytes.on('data', (chunk: Uint8Array) => attempt(() => take(chunk)))
        // The last bytes may bring it although they are paused.
        bytes.once('end', () => {
          hasEnded = true
          if (!isHeld) attempt(end)
        })
        bytes.once('error', fail)
      },
      pull() {
        if (!isHeld) bytes.resume()
      },
      cancel() {
        isOver = true
        bytes.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
