import { create } from 'zustand'

export type Toast = { title: string; description?: string; variant?: 'default' | 'destructive' }

type ToastState = { current: (Toast & { key: number; open: boolean }) | null }

/** The one toast that is shown: a new one takes the place of the older one. */
export const useToastState = create<ToastState>(() => ({ current: null }))

let lastKey = 0

/** Shows a toast for 5 seconds, in place of any other. */
export function toast(content: Toast): void {
  lastKey += 1
  useToastState.setState({ current: { ...content, key: lastKey, open: true } })
}

/** Takes the toast away, if it is still the one with this key. */
export function dismissToast(key: number): void {
  useToastState.setState(({ current }) => (current?.key === key ? { current: { ...current, open: false } } : {}))
}
