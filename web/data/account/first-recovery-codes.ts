/**
 * Remembers over a reload that a person set up the required second factor while signing in: the chat page then shows
 * recovery codes.
 */
const KEY = 'alcove-first-recovery-codes'

export const expectFirstRecoveryCodes = (): void => sessionStorage.setItem(KEY, 'expected')
export const areFirstRecoveryCodesExpected = (): boolean => sessionStorage.getItem(KEY) !== null
export const clearFirstRecoveryCodes = (): void => sessionStorage.removeItem(KEY)
