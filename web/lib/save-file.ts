/** Hands a file to the browser's downloads. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Begun by now, but not in every browser: those read the address a moment later.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
