/** Focuses the message box, except on touch screens, where that would open the on-screen keyboard. */
export function focusMessageBox(): void {
  if (matchMedia('(hover: hover)').matches) document.querySelector<HTMLElement>('main textarea:enabled')?.focus()
}
