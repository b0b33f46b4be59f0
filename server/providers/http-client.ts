/** Requests over Node's HTTP client, with responses as `fetch` returns them. */
import { globalAgent as httpAgent, type IncomingMessage, request as requestHttp, type RequestOptions } from 'node:http'
import { globalAgent as httpsAgent, request as requestHttps } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError, codeOf, toError } from '#server/base/errors.ts'
import { type Fail, runInFailureScope } from '#server/base/failure-scope.ts'
import { guardAgent } from '#server/base/guard-agent.ts'
import { guardEvents, guardStream } from '#server/base/guard-events.ts'
import type { WireFormat } from './wire-format.ts'
import { createDeltaReader, currentTextListener, type TextListener, type DeltaReader } from './text-deltas.ts'

guardAgent(httpAgent)
guardAgent(httpsAgent)

/** Resolves for any status with the result of `receive`, which runs synchronously when the headers arrive. */
export function sendRequest<T>(
  url: URL,
  options: RequestOptions,
  receive: (response: IncomingMessage) => T,
  body?: string | Buffer | null,
): Promise<T> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const fail: Fail = (error) => {
      request.destroy(toError(error))
      reject(toError(error))
    }
    const request = runInFailureScope(fail, () => send(url, options))
    guardEvents(request, fail)
    let isAnswered = false
    request.once('response', (response) => {
      isAnswered = true
      guardStream(response)
      resolve(new Promise((received) => received(receive(response))))
    })
    request.on('error', (error) => {
      // The server closed the idle connection before it read the request.
      const isStale = !isAnswered && request.reusedSocket && codeOf(error) === 'ECONNRESET'
      if (isStale) resolve(sendRequest(url, options, receive, body))
      else reject(error)
    })
    request.end(body)
  })
}

interface ResponseOptions extends Pick<StreamOptions, 'check'> {
  readonly listener?: TextListener | undefined
  /** Undefined for requests that no model answers. */
  readonly format: WireFormat | undefined
}

const WITHOUT_BODY = new Set([204, 205, 304])

/** @throws AppError `unsupported_type` for an unknown content encoding. */
export function decompress(response: IncomingMessage): Readable {
  const decoders = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return response
  const found = Object.entries(decoders).find(([name]) => name === encoding)
  if (!found) {
    // The server may keep an unread response open for ever.
    response.destroy()
    throw new AppError('unsupported_type', `The page is packed in a way that is not known (${encoding}).`)
  }
  return pipeline(response, found[1](), () => undefined)
}

/**
 * Streams the body with backpressure. A listener receives the text of events, which the body then omits. The body of
 * a streamed answer is an event stream as the SDK expects it, whatever its form and type.
 */
export function toResponse(
  response: IncomingMessage,
  { check, format, listener = currentTextListener() }: ResponseOptions,
): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
  const headers = new Headers()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // These headers describe the compressed body.
    if (!/^content-(?:encoding|length)$/i.test(name)) headers.append(name, rawHeaders[index + 1] ?? '')
  }
  if (WITHOUT_BODY.has(status)) {
    response.resume()
    return new Response(null, { status, statusText, headers })
  }
  const deltaReader = status < 300 && listener && format ? createDeltaReader(listener, format) : undefined
  if (deltaReader) headers.set('content-type', 'text/event-stream')
  const body = toWebStream(decompress(response), { check, deltaReader })
  return new Response(body, { status, statusText, headers })
}

interface StreamOptions {
  /** Receives the byte count; throwing aborts the response. */
  readonly check?: ((bytes: number) => void) | undefined
  readonly deltaReader?: DeltaReader | undefined
}

// Node's own conversions add an async iterator or a second queue: several ticks and promises for each token.
export function toWebStream(bytes: Readable, { check, deltaReader }: StreamOptions): ReadableStream<Uint8Array> {
  let count = 0
  let [isClosed, isHeld, hasEnded] = [false, false, false]
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const enqueue = (chunk: Uint8Array | undefined) => {
          if (chunk === undefined || isClosed) return
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) bytes.pause()
        }
        const fail = (error: unknown) => {
          isClosed = true
          controller.error(error)
        }
        // Errors thrown in these event handlers have no caller.
        const attempt = (step: () => void) => {
          if (isClosed) return
          try {
            step()
          } catch (error) {
            fail(error)
            bytes.destroy()
          }
        }
        const end = () => {
          enqueue(deltaReader?.end())
          controller.close()
        }
        const receiveChunk = (chunk: Uint8Array) => {
          check?.((count += chunk.length))
          if (!deltaReader) return enqueue(chunk)
          const { remaining, paused } = deltaReader.push(chunk)
          if (!paused) return enqueue(remaining)
          // Deliver the last text before the SDK processes the end.
          bytes.pause()
          isHeld = true
          const resume = () =>
            attempt(() => {
              isHeld = false
              enqueue(remaining)
              if (hasEnded) end()
            })
          paused.then(resume, fail)
        }
        bytes.on('data', (chunk: Uint8Array) => attempt(() => receiveChunk(chunk)))
        // A paused stream may still emit `end` after its last bytes.
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
        isClosed = true
        bytes.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
