import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Channel, Connection } from './channels.ts'
import { encodeFrame, type Incoming, type Outgoing } from './frames.ts'

/** A reader that needs longer for its full buffer is slow; meanwhile the changes of others wait. */
const MAX_ROOM_WAIT_MS = 50

export interface Sender {
  /** Terminates the socket of a slow reader, which bounds memory. */
  frame(connection: Connection, frame: string | Buffer): void
  /** Resolves when the last frame has left a full buffer, or the reader is slow; undefined while there is room. */
  untilRoom(connection: Connection): Promise<void> | undefined
  /** Bound to this join of the channel. */
  push(channel: Channel, event: string, payload: string): void
  reply(connection: Connection, to: Incoming, status: 'ok' | 'error', response: unknown): void
  system(channel: Channel, message: SystemMessage): void
  sendClose(channel: Channel): void
}

interface SystemMessage {
  readonly extension: 'system' | 'postgres_changes'
  readonly status: 'ok' | 'error'
  readonly message: string
}

export function createSender(bufferedBytes: number): Sender {
  /** Resolved when the last frame of a socket was handed to the operating system, or the socket has failed. */
  const lastSent = new WeakMap<WebSocket, Promise<void>>()
  const frame = ({ ws }: Connection, encoded: string | Buffer) => {
    if (ws.readyState !== WebSocket.OPEN) return
    if (ws.bufferedAmount > bufferedBytes) ws.terminate()
    else lastSent.set(ws, new Promise((resolve) => ws.send(encoded, () => resolve())))
  }
  const message = (connection: Connection, outgoing: Outgoing) =>
    frame(connection, encodeFrame(connection.vsn, outgoing))
  const push = ({ connection, joinRef, topic }: Channel, event: string, payload: string) =>
    message(connection, { joinRef, topic, event, payload })

  return {
    frame,
    untilRoom: ({ ws }) => {
      const sent = ws.bufferedAmount > bufferedBytes ? lastSent.get(ws) : undefined
      return sent && Promise.race([sent, delay(MAX_ROOM_WAIT_MS, undefined, { ref: false })])
    },
    push,
    reply: (connection, { joinRef, ref, topic }, status, response) =>
      message(connection, { joinRef, ref, topic, event: 'phx_reply', payload: JSON.stringify({ status, response }) }),
    system: (channel, { extension, status, message: text }) =>
      push(channel, 'system', JSON.stringify({ extension, status, message: text, channel: channel.name })),
    // realtime-js accepts a close only with the `ref` of the join.
    sendClose: ({ connection, joinRef, topic }) =>
      message(connection, { joinRef, ref: joinRef, topic, event: 'phx_close', payload: '{}' }),
  }
}
