/** How long first reads wait for live changes; a slow channel must not delay the page further. */
const MAX_WAIT_MS = 300

let ready = Promise.withResolvers<undefined>()
let waitedLong: Promise<undefined> | undefined

/**
 * Resolves when row changes begin to arrive, or after `MAX_WAIT_MS`. A list read before that would have to be read again,
 * because the channel never delivers rows written earlier. @throws the signal's reason if it was aborted meanwhile
 */
export async function untilChangesReady(signal?: AbortSignal): Promise<void> {
  waitedLong ??= new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS, undefined))
  await Promise.race([ready.promise, waitedLong])
  signal?.throwIfAborted()
}

export function markChangesReady(): void {
  ready.resolve(undefined)
}

export function forgetChangesReady(): void {
  ready = Promise.withResolvers()
  waitedLong = undefined
}
