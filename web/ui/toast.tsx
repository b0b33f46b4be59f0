import { create } from 'zustand'

export type Toast = { title: string; description?: string; variant?: 'default' | 'destructive' }

type ToastState = { current: (Toast & { key: number; open: boolean }) | null }

/** The one toast that is shown: a new one takes the place of the older one. */
export const useToastState = create<ToastState>(() => ({ current: null }))

/** How long a closed toast is kept. */
const REMOVE_DELAY_MS = 1_000_000

let lastKey = 0

/** Shows a toast for 5 seconds, in place of any other. */
export function toast(content: Toast): void {
  lastKey += 1
  useToastState.setState({ current: { ...content, key: lastKey, open: true } })
}

/** Takes the toast away, if it is still the one with this key; it is forgotten later. */
export function dismissToast(key: number): void {
  useToastState.setState(({ current }) => (current?.key === key ? { current: { ...current, open: false } } : {}))
  setTimeout(
    () => useToastState.setState(({ current }) => (current?.key === key ? { current: null } : {})),
    REMOVE_DELAY_MS,
  )
}
