import type { Context } from 'hono'
import { isLoopbackAddress, peerAddress } from './client-address.ts'

const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i
const FORWARDING_HEADER = /^(x-forwarded-.*|forwarded|via|x-real-ip)$/

/** Made on this machine, without a proxy or DNS rebinding: only then pages show recovery links and the test account. */
export function isLocalRequest(context: Context): boolean {
  const headers = context.req.header()
  const peer = peerAddress(context)
  return (
    LOCAL_HOST.test(headers['host'] ?? '') &&
    !Object.keys(headers).some((name) => FORWARDING_HEADER.test(name.toLowerCase())) &&
    peer !== undefined &&
    isLoopbackAddress(peer)
  )
}
