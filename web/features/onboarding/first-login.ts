const FIRST_LOGIN_WINDOW_MS = 2 * 60_000

/** Whether the last sign-in is within two minutes of the account's creation, or missing. */
export function isFirstLogin(user: { created_at: string; last_sign_in_at?: string | undefined }): boolean {
  if (user.last_sign_in_at === undefined || user.last_sign_in_at === '') return true
  return Math.abs(Date.parse(user.last_sign_in_at) - Date.parse(user.created_at)) <= FIRST_LOGIN_WINDOW_MS
}
