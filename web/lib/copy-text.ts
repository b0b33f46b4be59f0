/** Copies a text, also on plain http, where browsers offer no `navigator.clipboard`. @throws if the browser refuses */
export async function copyText(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const put = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', put)
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way without a secure origin
  const isCopied = document.execCommand('copy')
  document.removeEventListener('copy', put)
  if (!isCopied) throw new Error('The browser does not let this page copy')
}
