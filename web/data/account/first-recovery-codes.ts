/** Whoever had to set up a second factor at the sign-in page gets recovery codes on the page behind it; a reload keeps that. */
const KEY = 'alcove-first-recovery-codes'

export const expectFirstRecoveryCodes = (): void => sessionStorage.setItem(KEY, 'expected')
export const areFirstRecoveryCodesExpected = (): boolean => sessionStorage.getItem(KEY) !== null
export const clearFirstRecoveryCodes = (): void => sessionStorage.removeItem(KEY)
