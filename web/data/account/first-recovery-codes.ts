import { ownName } from '#web/data/base-path.ts'
import { tabStore } from '#web/data/storage/text-store.ts'

/** Remembers over a reload that sign-in set up a required second factor: the chat page then shows recovery codes. */
const KEY = ownName('alcove-first-recovery-codes')

export const expectFirstRecoveryCodes = (): void => tabStore.setItem(KEY, 'expected')
export const areFirstRecoveryCodesExpected = (): boolean => tabStore.getItem(KEY) !== null
export const clearFirstRecoveryCodes = (): void => tabStore.removeItem(KEY)
