/** Registry of what the browser has not stored. The values stay in memory and are lost when the page is left. */
import { create } from 'zustand'

export type UnstoredKind = 'session' | 'drafts' | 'files' | 'recordings' | 'settings'

const RETRY_INTERVAL_MS = 10_000

interface UnstoredState {
  /** The browser refuses its storage to this page, so that whatever is stored later is lost too. */
  readonly isRefused: boolean
  /** Sorted. */
  readonly kinds: readonly UnstoredKind[]
}

export const useUnstored = create<UnstoredState>(() => ({ isRefused: false, kinds: [] }))

const entries = new Map<string, { kind: UnstoredKind; retry: () => void }>()
let timer: ReturnType<typeof setInterval> | undefined

function publish(): void {
  const kinds = [...new Set([...entries.values()].map(({ kind }) => kind))].toSorted()
  if (kinds.join() === useUnstored.getState().kinds.join()) return
  useUnstored.setState({ kinds })
  clearInterval(timer)
  if (kinds.length > 0) timer = setInterval(() => entries.forEach(({ retry }) => retry()), RETRY_INTERVAL_MS)
}

/** @param retry called now and then; calls `markStored` or `markUnstored` again */
export function markUnstored(key: string, kind: UnstoredKind, retry: () => void): void {
  entries.set(key, { kind, retry })
  publish()
}

/** Also for what is not needed any more. */
export function markStored(key: string): void {
  if (entries.delete(key)) publish()
}

export const setStorageRefused = (isRefused: boolean): void => useUnstored.setState({ isRefused })
