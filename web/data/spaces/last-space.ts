import { ownName } from '#web/data/base-path.ts'
import { localStore, tabStore } from '#web/data/storage/text-store.ts'
import type { Space } from './current-space.ts'

const keyOf = (userId: string): string => ownName(`alcove-space:${userId}`)

const PERSONAL = 'personal'

/** The space in which the person was last in this tab; in a new tab, that on this device. */
export function readLastSpace(userId: string): Space {
  const ofTab = tabStore.getItem(keyOf(userId))
  return ofTab === PERSONAL ? null : (ofTab ?? localStore.getItem(keyOf(userId)))
}

export function storeLastSpace(userId: string, space: Space): void {
  tabStore.setItem(keyOf(userId), space ?? PERSONAL)
  if (space === null) localStore.removeItem(keyOf(userId))
  else localStore.setItem(keyOf(userId), space)
}
