/** Whoever had to set up a second factor at the sign-in page gets recovery codes on the page behind it; a reload keeps that. */
const KEY = 'alcove-first-recovery-codes'

export const expectFirstCodes = (): void => sessionStorage.setItem(KEY, 'expected')
export const areFirstCodesExpected = (): boolean => sessionStorage.getItem(KEY) !== null
export const forgetFirstCodes = (): void => sessionStorage.removeItem(KEY)
