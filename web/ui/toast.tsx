import { create } from 'zustand'
import { TOAST_REMOVAL_DELAY_MS } from './toast-constants.ts'

export type Toast = { title: string; description?: string; variant?: 'default' | 'destructive' }

type ToastState = { current: (Toast & { key: number; open: boolean }) | null }

export const useToastState = create<ToastState>(() => ({ current: null }))

let lastKey = 0

export function toast(content: Toast): void {
  lastKey += 1
  useToastState.setState({ current: { ...content, key: lastKey, open: true } })
}

export function dismissToast(key: number): void {
  useToastState.setState(({ current }) => (current?.key === key ? { current: { ...current, open: false } } : {}))
  setTimeout(
    () => useToastState.setState(({ current }) => (current?.key === key ? { current: null } : {})),
    TOAST_REMOVAL_DELAY_MS,
  )
}
