import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { z } from 'zod'
import { addressKey, plainAddress, visitorAddress } from '#server/access/client-address.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { currentRequestId } from '#server/base/request-id.ts'
import { verifyToken } from './authorize.ts'
import type { Vsn } from './frames.ts'
import { Rejection } from './rejection.ts'

const PATH = '/realtime/v1/websocket'

const versionSchema = z.enum(['1.0.0', '2.0.0'])

export class HandshakeError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'HandshakeError'
    this.status = status
  }
}

export function visitorAddressKey({ socket, headers }: IncomingMessage, trustProxy: number): string {
  const peer = socket.remoteAddress === undefined ? undefined : plainAddress(socket.remoteAddress)
  return addressKey(visitorAddress(peer, headers['x-forwarded-for']?.toString(), trustProxy))
}

/** @throws HandshakeError */
export async function authorizeHandshake(
  tokens: TokenVerifier,
  request: IncomingMessage,
): Promise<{ vsn: Vsn; apiKey: string }> {
  const url = URL.parse(request.url ?? '/', 'http://localhost')
  if (url?.pathname !== PATH) throw new HandshakeError(404, 'There is nothing at this address')
  const vsn = versionSchema.safeParse(url.searchParams.get('vsn') ?? '1.0.0')
  if (!vsn.success) throw new HandshakeError(400, 'Unsupported protocol version')
  const apiKey = url.searchParams.get('apikey') ?? request.headers['apikey']
  if (typeof apiKey !== 'string' || apiKey === '') throw new HandshakeError(401, 'No API key found in request')
  try {
    await verifyToken(tokens, apiKey)
  } catch (error) {
    if (error instanceof Rejection) throw new HandshakeError(401, error.message)
    throw error
  }
  return { vsn: vsn.data, apiKey }
}

export function rejectHandshake(socket: Duplex, { status, message }: HandshakeError): void {
  const body = JSON.stringify({ error: message })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\ncontent-type: application/json\r\n` +
      `x-request-id: ${currentRequestId() ?? ''}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
