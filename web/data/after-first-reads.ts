import type { QueryClient } from '@tanstack/react-query'

/** A page that is never idle loads the rest after this time. */
const MAX_WAIT_FOR_IDLE_MS = 2000

/** Calls back once, when no query is being read and the browser is idle. @returns the function that gives up */
export function afterFirstReads(queryClient: QueryClient, act: () => void): () => void {
  let giveUp = queryClient.getQueryCache().subscribe(begin)
  function begin(): void {
    if (queryClient.isFetching() > 0) return
    giveUp()
    giveUp = whenIdle(act)
  }
  begin()
  return () => giveUp()
}

function whenIdle(act: () => void): () => void {
  // Safari has no idle callbacks.
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(act)
    return () => clearTimeout(timer)
  }
  const request = requestIdleCallback(act, { timeout: MAX_WAIT_FOR_IDLE_MS })
  return () => cancelIdleCallback(request)
}
