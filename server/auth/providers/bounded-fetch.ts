/** `fetch` for configured providers with time and size limits, without redirects. */
const TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024

interface BoundedRequest {
  readonly method?: string
  readonly headers: NonNullable<RequestInit['headers']>
  readonly body?: RequestInit['body'] | undefined
  readonly signal?: AbortSignal | null | undefined
}

/** @throws Error for a late or too large response. */
export async function boundedFetch(address: string, request: BoundedRequest): Promise<Response> {
  const { body: sent, signal: given, method = 'GET', headers: asked } = request
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const signal = given == null ? timeout : AbortSignal.any([given, timeout])
  const response = await fetch(address, { method, headers: asked, body: sent ?? null, redirect: 'manual', signal })
  const body = await readBounded(response)
  const headers = new Headers(response.headers)
  // These headers describe the compressed body.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  return new Response(body, { status: response.status, headers })
}

async function readBounded({ body }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (body === null) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error('The provider answered with more than 1 MB.')
    chunks.push(chunk)
  }
  return Uint8Array.from(Buffer.concat(chunks))
}
