import { ownName } from '#web/data/base-path.ts'
import { type Space, spaceParameter } from '#web/data/current-space.ts'
import { localStore, tabStore } from '#web/data/storage/text-store.ts'
import { parseRouteState } from '#web/lib/route-state.ts'

const keyOf = (userId: string): string => ownName(`alcove-space:${userId}`)

const PERSONAL = 'personal'

/** The space in which the person was last in this tab; in a new tab, that on this device. */
export function readLastSpace(userId: string): Space {
  const stored = tabStore.getItem(keyOf(userId)) ?? localStore.getItem(keyOf(userId)) ?? PERSONAL
  // An address ignores what is no id, so that would never open.
  return parseRouteState(`?${spaceParameter(stored)}`).spaceId
}

export function storeLastSpace(userId: string, space: Space): void {
  tabStore.setItem(keyOf(userId), space ?? PERSONAL)
  if (space === null) localStore.removeItem(keyOf(userId))
  else localStore.setItem(keyOf(userId), space)
}
