/**
 * The files of a paste; null for a paste of text. Word processors and spreadsheets add a picture of the copied text to
 * the text itself (plain and HTML): then the text counts. A file manager gives files and at most their names; a
 * browser gives a copied picture with its HTML.
 */
export function pastedFiles<Files extends { length: number }>(
  data: { types: readonly string[]; files: Files } | null,
): Files | null {
  if (!data || data.files.length === 0) return null
  const isCopiedText = data.types.includes('text/plain') && data.types.includes('text/html')
  return isCopiedText ? null : data.files
}
