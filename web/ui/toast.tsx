import { create } from 'zustand'
import { TOAST_REMOVAL_DELAY_MS } from './toast-constants.ts'

export type Toast = { title: string; description?: string; variant?: 'default' | 'destructive' }

type ToastState = { current: (Toast & { key: number; open: boolean }) | null }

export const useToastState = create<ToastState>(() => ({ current: null }))

let lastKey = 0

/** Shows a toast for `TOAST_DISPLAY_MS`, in place of any other. */
export function toast(content: Toast): void {
  lastKey += 1
  useToastState.setState({ current: { ...content, key: lastKey, open: true } })
}

/** Closes the toast with this key, if it is the current one. */
export function dismissToast(key: number): void {
  useToastState.setState(({ current }) => (current?.key === key ? { current: { ...current, open: false } } : {}))
  setTimeout(
    () => useToastState.setState(({ current }) => (current?.key === key ? { current: null } : {})),
    TOAST_REMOVAL_DELAY_MS,
  )
}
