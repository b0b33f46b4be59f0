import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const DEFAULT_WAIT_MS = 2_000
const MAX_WAIT_MS = 60_000

/** The AI SDK throws this for a retryable HTTP status. */
const retryableError = z.object({
  isRetryable: z.literal(true),
  responseHeaders: z.record(z.string(), z.string()).nullish(),
})

/** The wait that the provider requests, up to one minute (RFC 9110, 10.2.3; `retry-after-ms` is specific to OpenAI). */
function waitMs(headers: Readonly<Record<string, string>>): number {
  const after = headers['retry-after'] ?? ''
  const requestedMs =
    headers['retry-after-ms'] === undefined
      ? /^\d/.test(after)
        ? Number(after) * 1000
        : Date.parse(after) - Date.now()
      : Number(headers['retry-after-ms'])
  return requestedMs >= 0 && requestedMs <= MAX_WAIT_MS ? requestedMs : DEFAULT_WAIT_MS
}

interface RetryOptions {
  readonly signal: AbortSignal
  /** False once the listener of text deltas has received text: the SDK may report a failed stream as an empty one. */
  readonly hasNoOutput: () => boolean
}

/** Retries a rejected request once, unless output has arrived. @throws the second error, or the abort reason. */
export async function retryOnce<T>(send: () => Promise<T>, { signal, hasNoOutput }: RetryOptions): Promise<T> {
  try {
    return await send()
  } catch (error) {
    signal.throwIfAborted()
    const rejected = retryableError.safeParse(error)
    if (!rejected.success || !hasNoOutput()) throw error
    await delay(waitMs(rejected.data.responseHeaders ?? {}), undefined, { signal })
    return send()
  }
}
