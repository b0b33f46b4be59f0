/**
 * How blobs leave Node's own server: in memory that is used again once the system has taken over what was in it. As a web
 * stream, each piece is new memory that waits to be collected after it was sent.
 */
import { ServerResponse } from 'node:http'
import { type Http2Bindings, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Log } from '#server/base/log.ts'

type Bytes = ReadableStream<Uint8Array>
type Answer = (request: Request, bindings: HttpBindings | Http2Bindings) => Response | Promise<Response>

const MOST_BYTES = 256 * 1024

const bodies = new WeakMap<Request, Bytes>()

/** Has the answer's body, a byte stream, sent from lent memory where the request came through {@link lendMemory}. */
export function sendFromLentMemory(request: Request, body: Bytes): void {
  bodies.set(request, body)
}

/** An app whose byte streams are sent from one piece of memory each, after all its middleware has seen the answer. */
export function lendMemory(answer: Answer, log: Log): Answer {
  return async function answerAndSend(request, bindings) {
    const response = await answer(request, bindings)
    const body = bodies.get(request)
    const { outgoing } = bindings
    if (!body || !(outgoing instanceof ServerResponse)) return response
    if (response.body !== body) {
      await body.cancel()
      return response
    }
    try {
      await send(response, body, outgoing)
    } catch (error) {
      log.error({ err: error, path: new URL(request.url).pathname }, 'an answer broke off')
      // The length has been promised: only a connection that breaks says that not all has come.
      outgoing.destroy()
    }
    return RESPONSE_ALREADY_SENT
  }
}

/** Resolves when earlier requests of the connection have been answered; with false where it was closed before. */
function comesToItsTurn(outgoing: ServerResponse): Promise<boolean> {
  if (outgoing.destroyed || outgoing.socket) return Promise.resolve(!outgoing.destroyed)
  return new Promise((resolve) => {
    outgoing.once('socket', () => resolve(true))
    outgoing.once('close', () => resolve(false))
  })
}

async function send({ status, headers }: Response, body: Bytes, outgoing: ServerResponse): Promise<void> {
  // Many requests may come at once on one connection: no memory for those that would only wait.
  if (!(await comesToItsTurn(outgoing))) return body.cancel()
  outgoing.setHeaders(headers)
  outgoing.writeHead(status)
  const reader = body.getReader({ mode: 'byob' })
  let memory: Uint8Array = new Uint8Array(Math.min(MOST_BYTES, Number(headers.get('content-length'))))
  for (;;) {
    const { done, value } = await reader.read(memory)
    if (done) break
    if (!(await writeOut(outgoing, value))) return reader.cancel()
    memory = new Uint8Array(value.buffer)
  }
  outgoing.end()
}

/** Resolves once the system has taken the bytes; with false where the other end has gone. */
function writeOut(outgoing: ServerResponse, bytes: Uint8Array): Promise<boolean> {
  if (outgoing.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const haveGone = () => resolve(false)
    outgoing.once('close', haveGone)
    outgoing.write(bytes, (error) => {
      outgoing.off('close', haveGone)
      resolve(!error)
    })
  })
}
