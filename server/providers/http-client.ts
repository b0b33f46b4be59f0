/** Requests over Node's own HTTP client, and what it receives as `fetch` gives it. */
import { type IncomingMessage, request as requestHttp, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError, codeOf } from '#server/base/errors.ts'

/** Resolves with the beginning of the answer, whatever its status. */
export function sendRequest(
  url: URL,
  options: RequestOptions,
  body?: string | Buffer | null,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const request = send(url, options)
    let isAnswered = false
    request.once('response', (response) => {
      isAnswered = true
      resolve(response)
    })
    request.on('error', (error) => {
      // The server has closed a connection that was kept, just when it was to be used again: it has read nothing.
      const isStale = !isAnswered && request.reusedSocket && codeOf(error) === 'ECONNRESET'
      if (isStale) resolve(sendRequest(url, options, body))
      else reject(error)
    })
    request.end(body)
  })
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
 * Its body is read as it comes, and no faster than it is asked for.
 * @param check is given the count of bytes so far; what it throws breaks the answer off.
 */
export function toResponse(response: IncomingMessage, check: (bytes: number) => void = () => undefined): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
  const headers = new Headers()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // What is handed on is unpacked, so its length and its packing are no longer those.
    if (!/^content-(?:encoding|length)$/i.test(name)) headers.append(name, rawHeaders[index + 1] ?? '')
  }
  if (!WITHOUT_BODY.has(status))
    return new Response(streamOf(decoded(response), check), { status, statusText, headers })
  response.resume()
  return new Response(null, { status, statusText, headers })
}

// Node's own bridges read through an async iterator or a second queue: several turns and promises for each token.
function streamOf(bytes: Readable, check: (bytes: number) => void): ReadableStream<Uint8Array> {
  let count = 0
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        bytes.pause()
        bytes.on('data', (chunk: Uint8Array) => {
          try {
            check((count += chunk.length))
          } catch (error) {
            bytes.destroy(error instanceof Error ? error : new Error(String(error)))
            return
          }
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) bytes.pause()
        })
        bytes.once('end', () => controller.close())
        bytes.once('error', (error) => controller.error(error))
      },
      pull() {
        bytes.resume()
      },
      cancel() {
        bytes.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
