/**
 * The files of a paste that are meant as files; null for a paste of text. Word processors and spreadsheets put a
 * picture of the copied text beside the text itself (plain and as HTML), and there the text is what was meant. A file
 * manager gives files and at most their names; a browser gives a copied picture and its HTML.
 */
export function pastedFiles<Files extends { length: number }>(
  data: { types: readonly string[]; files: Files } | null,
): Files | null {
  if (!data || data.files.length === 0) return null
  const isCopiedText = data.types.includes('text/plain') && data.types.includes('text/html')
  return isCopiedText ? null : data.files
}
