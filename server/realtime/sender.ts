import { WebSocket } from 'ws'
import type { Channel, Connection } from './channels.ts'
import { encodeFrame, type Incoming, type Outgoing } from './frames.ts'

/** Terminating a slow reader's socket bounds memory. */
function sendFrame({ ws }: Connection, frame: string | Buffer, bufferedBytes: number): void {
  if (ws.readyState !== WebSocket.OPEN) return
  if (ws.bufferedAmount > bufferedBytes) ws.terminate()
  else ws.send(frame)
}

export interface Sender {
  frame(connection: Connection, frame: string | Buffer): void
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
  const frame = (connection: Connection, encoded: string | Buffer) => sendFrame(connection, encoded, bufferedBytes)
  const message = (connection: Connection, outgoing: Outgoing) =>
    frame(connection, encodeFrame(connection.vsn, outgoing))
  const push = ({ connection, joinRef, topic }: Channel, event: string, payload: string) =>
    message(connection, { joinRef, topic, event, payload })

  return {
    frame,
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
