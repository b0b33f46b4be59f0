/** A request that a provider cannot take at the moment is sent once more, unless some of its answer was heard. */
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const WAIT_MS = 2_000
const LONGEST_WAIT_MS = 60_000

/** What the AI SDK throws where a provider answered with a status. */
const refusal = z.object({
  isRetryable: z.literal(true),
  responseHeaders: z.record(z.string(), z.string()).nullish(),
})

/** How long the provider asks to wait, where that is within reason (RFC 9110, 10.2.3; `retry-after-ms` is OpenAI's own). */
function waitMs(headers: Readonly<Record<string, string>>): number {
  const after = headers['retry-after'] ?? ''
  const asked =
    headers['retry-after-ms'] === undefined
      ? /^\d/.test(after)
        ? Number(after) * 1000
        : Date.parse(after) - Date.now()
      : Number(headers['retry-after-ms'])
  return asked >= 0 && asked <= LONGEST_WAIT_MS ? asked : WAIT_MS
}

interface Sending {
  readonly signal: AbortSignal
  /** Text is taken ahead of the SDK, for which a stream may then have failed before it said anything. */
  readonly isUnheard: () => boolean
}

/** @throws what `send` throws the second time, or the reason of the signal. */
export async function sendAgain<T>(send: () => Promise<T>, { signal, isUnheard }: Sending): Promise<T> {
  try {
    return await send()
  } catch (error) {
    signal.throwIfAborted()
    const refused = refusal.safeParse(error)
    if (!refused.success || !isUnheard()) throw error
    await delay(waitMs(refused.data.responseHeaders ?? {}), undefined, { signal })
    return send()
  }
}
