import { ownName } from '#web/data/base-path.ts'
import { tabStore } from '#web/data/storage/text-store.ts'

/** The label of the provider that this tab went to, for the words about its answer. */
const KEY = ownName('alcove-provider')

export const rememberProvider = (label: string): void => tabStore.setItem(KEY, label)
export const providerLabel = (): string | null => tabStore.getItem(KEY)
