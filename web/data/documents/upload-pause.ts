import { ownName } from '#web/data/base-path.ts'

/** Whether a person has paused the uploads in this browser; survives a reload. */

const keyOf = (userId: string): string => ownName(`alcove-uploads-paused:${userId}`)

export const isUploadPaused = (userId: string): boolean => localStorage.getItem(keyOf(userId)) !== null

export function storeUploadPause(userId: string, isPaused: boolean): void {
  if (isPaused) localStorage.setItem(keyOf(userId), '')
  else localStorage.removeItem(keyOf(userId))
}
