/** `fetch` to a provider that the operator has named: within a time, up to a size, and without following it elsewhere. */
const TIMEOUT_MS = 10_000
const MOST_BYTES = 1024 * 1024

interface BoundedRequest {
  readonly method?: string
  readonly headers: NonNullable<RequestInit['headers']>
  readonly body?: RequestInit['body'] | undefined
  readonly signal?: AbortSignal | null | undefined
}

/** @throws Error where there was no answer in time, or a larger one than any provider has to give. */
export async function boundedFetch(address: string, request: BoundedRequest): Promise<Response> {
  const { body: sent, signal: given, method = 'GET', headers: asked } = request
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const signal = given == null ? timeout : AbortSignal.any([given, timeout])
  const response = await fetch(address, { method, headers: asked, body: sent ?? null, redirect: 'manual', signal })
  const body = await readBounded(response)
  const headers = new Headers(response.headers)
  // What is handed on is unpacked, so its length and its packing are no longer those.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  return new Response(body, { status: response.status, headers })
}

async function readBounded({ body }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (body === null) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error('The provider answered with more than 1 MB.')
    chunks.push(chunk)
  }
  return Uint8Array.from(Buffer.concat(chunks))
}
