import { ownName } from '#web/data/base-path.ts'
import { tabStore } from '#web/data/storage/text-store.ts'

/** Stored per tab until dismissed. The session ends before the receipt arrives, and the sign-in page waits for it. */
const RECEIPT_KEY = ownName('alcove-receipt')

const listeners = new Set<() => void>()

export function storeDeletionReceipt(receipt: unknown): void {
  tabStore.setItem(RECEIPT_KEY, JSON.stringify(receipt, null, 2))
  for (const notify of listeners) notify()
}

export function readDeletionReceipt(): string | null {
  return tabStore.getItem(RECEIPT_KEY)
}

export function clearDeletionReceipt(): void {
  tabStore.removeItem(RECEIPT_KEY)
  for (const notify of listeners) notify()
}

export function subscribeToDeletionReceipt(changed: () => void): () => void {
  listeners.add(changed)
  return () => listeners.delete(changed)
}
