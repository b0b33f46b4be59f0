/** Sends bytes over a connection of their own and reads what comes back, without an HTTP library's corrections. */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Transmission } from './transmission.ts'

export interface Answer {
  /** Status of the first final response; undefined if none came. */
  readonly status: number | undefined
  /** Everything that was received, up to `MAX_TEXT_BYTES`. */
  readonly text: string
  readonly tookMs: number
  /** Neither answered nor closed within the limit, although everything was sent. */
  readonly isMissing: boolean
}

const MAX_TEXT_BYTES = 2_000_000
/** An incomplete request deserves no answer; it is abandoned after this time. */
const ABANDON_AFTER_MS = 150

const FINAL_STATUS = /^(?:HTTP\/1\.1 1\d\d[^\r]*\r\n(?:[^\r]+\r\n)*\r\n)*HTTP\/1\.[01] ([2-9]\d\d)/

/** Whether the first response is complete: a connection that stays open may bring no end. */
function isAnswered(text: string, method: string): boolean {
  const begin = FINAL_STATUS.exec(text)
  const headEnd = begin ? text.indexOf('\r\n\r\n', begin[0].length) : -1
  if (!begin || headEnd < 0) return false
  const [head, body] = [text.slice(begin.index, headEnd), text.slice(headEnd + 4)]
  if (method === 'HEAD' || begin[1] === '204' || begin[1] === '304') return true
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length !== undefined) return body.length >= Number(length)
  return /\r\ntransfer-encoding: chunked/i.test(head) && body.endsWith('0\r\n\r\n')
}

/** Leaves the answer unread until the caller destroys the connection. */
export function sendUnread(port: number, { chunks }: Transmission): Socket {
  const socket = connect({ port, host: '127.0.0.1' })
  // The server may close a connection whose answer is not taken.
  socket.on('error', () => undefined)
  for (const chunk of chunks) socket.write(chunk)
  return socket
}

export function sendRequest(port: number, transmission: Transmission, limitMs: number): Promise<Answer> {
  const { chunks, pauseMs, isHalfClosed, abortsAfterBytes, isComplete, method } = transmission
  const startedAt = performance.now()
  let text = ''
  let received = 0
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const timer = setTimeout(
      () => finish(isComplete),
      isComplete ? limitMs : ABANDON_AFTER_MS + pauseMs * chunks.length,
    )
    function finish(isMissing: boolean): void {
      clearTimeout(timer)
      socket.destroy()
      const status = FINAL_STATUS.exec(text)?.[1]
      const tookMs = performance.now() - startedAt
      resolve({ status: status === undefined ? undefined : Number(status), text, tookMs, isMissing })
    }
    socket.on('data', (data: Buffer) => {
      received += data.length
      if (text.length < MAX_TEXT_BYTES) text += data.toString('latin1')
      if (abortsAfterBytes !== undefined && received > abortsAfterBytes) return finish(false)
      if (isAnswered(text, method)) finish(false)
    })
    socket.on('end', () => finish(false))
    socket.on('close', () => finish(false))
    // A reset is one way of closing: the server may end a connection while a body is still being sent.
    socket.on('error', () => finish(false))
    void sendAll()

    async function sendAll(): Promise<void> {
      for (const chunk of chunks) {
        if (socket.destroyed) return
        socket.write(chunk)
        if (pauseMs > 0) await delay(pauseMs)
      }
      if (isHalfClosed) socket.end()
      if (abortsAfterBytes === 0) finish(false)
    }
  })
}
