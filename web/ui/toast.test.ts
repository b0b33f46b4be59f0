import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { dismissToast, toast, useToastState } from './toast.tsx'

const shown = () => useToastState.getState().current

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('a closed toast is kept for 1000000 ms, then forgotten', () => {
  toast({ title: 'Conversation pinned' })
  dismissToast(shown()?.key ?? 0)
  expect(shown()).toMatchObject({ title: 'Conversation pinned', open: false })
  vi.advanceTimersByTime(999_999)
  expect(shown()).not.toBeNull()
  vi.advanceTimersByTime(1)
  expect(shown()).toBeNull()
})

test('removing a closed toast leaves a later one', () => {
  toast({ title: 'Conversation pinned' })
  dismissToast(shown()?.key ?? 0)
  toast({ title: 'Conversation unpinned' })
  vi.advanceTimersByTime(1_000_000)
  expect(shown()).toMatchObject({ title: 'Conversation unpinned', open: true })
})
