/** Sends byte streams through one reused buffer; a web stream would allocate a new one for each chunk. */
import { ServerResponse } from 'node:http'
import type { Http2Bindings, HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { currentCaller } from '#server/base/caller.ts'
import type { Log } from '#server/base/log.ts'
import { openTransfer, type Transfer } from '#server/base/transfer-turns.ts'

type Bytes = ReadableStream<Uint8Array>
type Answer = (request: Request, bindings: HttpBindings | Http2Bindings) => Response | Promise<Response>

const BUFFER_BYTES = 256 * 1024

const bodies = new WeakMap<Request, { readonly body: Bytes; readonly caller: string | undefined }>()

export function sendFromReusedBuffer(request: Request, body: Bytes): void {
  bodies.set(request, { body, caller: currentCaller() })
}

export function withReusedBuffers(answer: Answer, log: Log): Answer {
  return async function respond(request, bindings) {
    const response = await answer(request, bindings)
    const sent = bodies.get(request)
    const { outgoing } = bindings
    // An error in a handler of an event has ended the request, and been answered.
    if (outgoing.headersSent) {
      await response.body?.cancel()
      return RESPONSE_ALREADY_SENT
    }
    if (!sent || !(outgoing instanceof ServerResponse)) return response
    const { body, caller } = sent
    if (response.body !== body) {
      await body.cancel()
      return response
    }
    const transfer = openTransfer(caller)
    try {
      await send(response, body, outgoing, transfer)
    } catch (error) {
      log.error({ err: error, path: new URL(request.url).pathname }, 'sending a response failed')
      // The length is already sent: only a broken connection tells the client that bytes are missing.
      outgoing.destroy()
    } finally {
      transfer.end()
    }
    return RESPONSE_ALREADY_SENT
  }
}

/** Resolves when earlier requests of the connection are answered; with false if it closed before. */
function waitForTurn(outgoing: ServerResponse): Promise<boolean> {
  if (outgoing.destroyed || outgoing.socket) return Promise.resolve(!outgoing.destroyed)
  return new Promise((resolve) => {
    outgoing.once('socket', () => resolve(true))
    outgoing.once('close', () => resolve(false))
  })
}

async function send(
  { status, headers }: Response,
  body: Bytes,
  outgoing: ServerResponse,
  transfer: Transfer,
): Promise<void> {
  if (!(await waitForTurn(outgoing))) return body.cancel()
  outgoing.setHeaders(headers)
  outgoing.writeHead(status)
  const reader = body.getReader({ mode: 'byob' })
  let memory: Uint8Array = new Uint8Array(Math.min(BUFFER_BYTES, Number(headers.get('content-length'))))
  for (;;) {
    const { done, value } = await reader.read(memory)
    if (done) break
    await new Promise<void>((resolve) => transfer.pass(resolve))
    if (!(await writeOut(outgoing, value))) return reader.cancel()
    memory = new Uint8Array(value.buffer)
  }
  outgoing.end()
}

/** Resolves once the system has taken the bytes; with false if the client disconnected. */
function writeOut(outgoing: ServerResponse, bytes: Uint8Array): Promise<boolean> {
  if (outgoing.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onClose = () => resolve(false)
    outgoing.once('close', onClose)
    outgoing.write(bytes, (error) => {
      outgoing.off('close', onClose)
      resolve(!error)
    })
  })
}
