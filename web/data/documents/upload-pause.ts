import { ownName } from '#web/data/base-path.ts'
import { localStore } from '#web/data/storage/text-store.ts'

/** Whether a person has paused the uploads in this browser; survives a reload. */
const keyOf = (userId: string): string => ownName(`alcove-uploads-paused:${userId}`)

export const isUploadPaused = (userId: string): boolean => localStore.getItem(keyOf(userId)) !== null

export function storeUploadPause(userId: string, isPaused: boolean): void {
  if (isPaused) localStore.setItem(keyOf(userId), '', 'settings')
  else localStore.removeItem(keyOf(userId))
}
