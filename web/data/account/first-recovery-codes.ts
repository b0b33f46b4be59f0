import { ownName } from '#web/data/base-path.ts'

/** Remembers over a reload that sign-in set up a required second factor: the chat page then shows recovery codes. */
const KEY = ownName('alcove-first-recovery-codes')

export const expectFirstRecoveryCodes = (): void => sessionStorage.setItem(KEY, 'expected')
export const areFirstRecoveryCodesExpected = (): boolean => sessionStorage.getItem(KEY) !== null
export const clearFirstRecoveryCodes = (): void => sessionStorage.removeItem(KEY)
