import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { isLoopbackAddress, peerAddress } from './client-address.ts'

const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i
const LOCAL_ORIGIN = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?(\/|$)/i
/** Headers that common proxies and content delivery networks add. */
const PROXY_HEADER =
  /^(x-forwarded.*|x-original-.*|x-envoy-.*|x-amzn-.*|x-appengine-.*|cf-.*|forwarded.*|via|cdn-loop|x-real-ip|x-host|x-client-ip|client-ip|x-cluster-client-ip|true-client-ip|fastly-client-ip|fly-client-ip|proxy-connection)$/

/** Reverse proxies often speak HTTP/1.0 to their servers (nginx by default); browsers never do. */
function speaksOldHttp(context: Context): boolean {
  const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage }
  return incoming?.httpVersion === '1.0'
}

/**
 * Whether a request was made on this machine without a proxy or DNS rebinding, as far as it shows: only then pages show
 * recovery links and the test account. A proxy that rewrites `Host` and adds no header looks local, so callers also
 * require a set-up without one.
 */
export function isLocalRequest(context: Context): boolean {
  const headers = context.req.header()
  const peer = peerAddress(context)
  const { origin = 'http://localhost', referer = 'http://localhost' } = headers
  return (
    LOCAL_HOST.test(headers['host'] ?? '') &&
    LOCAL_ORIGIN.test(origin) &&
    LOCAL_ORIGIN.test(referer) &&
    !Object.keys(headers).some((name) => PROXY_HEADER.test(name.toLowerCase())) &&
    !speaksOldHttp(context) &&
    peer !== undefined &&
    isLoopbackAddress(peer)
  )
}
