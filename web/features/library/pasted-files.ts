/**
 * Null for a paste of text. Word processors add a picture of the copied text to plain text and HTML: then the text
 * counts. A file manager gives files and at most their names; a browser gives a copied picture with its HTML.
 */
export function pastedFiles<Files extends { length: number }>(
  data: { types: readonly string[]; files: Files } | null,
): Files | null {
  if (!data || data.files.length === 0) return null
  const isCopiedText = data.types.includes('text/plain') && data.types.includes('text/html')
  return isCopiedText ? null : data.files
}
