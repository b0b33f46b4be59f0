import { ownName } from '#web/data/base-path.ts'
import { localStore } from '#web/data/storage/text-store.ts'
import type { Space } from './current-space.ts'

const keyOf = (userId: string): string => ownName(`alcove-space:${userId}`)

/** The space in which the person was last on this device. */
export const readLastSpace = (userId: string): Space => localStore.getItem(keyOf(userId))

export function storeLastSpace(userId: string, space: Space): void {
  if (space === null) localStore.removeItem(keyOf(userId))
  else localStore.setItem(keyOf(userId), space)
}
