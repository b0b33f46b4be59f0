/**
 * The addresses that a person wrote in a message: `@web` may read them, and answers may link to them. The page inserts names
 * of documents into a message, which others chose; they are left out. All steps take time in proportion to the text.
 */
const ADDRESS = /https?:\/\/[^\s<>"'`|。．，、；：！？（）［］｛｝「」『』【】〔〕《》〈〉“”‘’…]+/gi
/** Chinese, Japanese and Korean text has no blank behind an address; its punctuation is never part of one. */
export const EAST_ASIAN_PUNCTUATION = /[。．，、；：！？（）［］｛｝「」『』【】〔〕《》〈〉“”‘’…]/
const NAMING = /@knowledge[ \t]/
const NAMES_WITHOUT_QUOTES = /^@knowledge[ \t]+[^\s,;&]+(?:[,;&][^\s,;&]+)*/
const QUOTATION_MARKS = ['”', '"', '“', '»', '«', '„']
const CLOSING = new Set(')]}.,;:!?*_~')

/** A name may contain quotation marks itself, so that everything up to the last one of the line counts as names. */
function withoutNames(line: string): string {
  const start = line.search(NAMING)
  if (start === -1) return line
  const [before, named] = [line.slice(0, start), line.slice(start)]
  const end = Math.max(...QUOTATION_MARKS.map((mark) => named.lastIndexOf(mark)))
  return `${before} ${end === -1 ? named.replace(NAMES_WITHOUT_QUOTES, '') : named.slice(end + 1)}`
}

/** A message without the names of documents after `@knowledge`. */
export const withoutDocumentNames = (text: string): string => text.split('\n').map(withoutNames).join('\n')

/** Text around an address may end in punctuation that is not part of it. */
export function trimAddress(address: string): string {
  let end = address.length
  while (end > 0 && CLOSING.has(address.charAt(end - 1))) end -= 1
  return address.slice(0, end)
}

/** The http and https addresses of a text, with and without the punctuation at their ends; none with user information. */
export const addressesIn = (text: string): URL[] =>
  [...text.matchAll(ADDRESS)]
    .flatMap(([match]) => [...new Set([match, trimAddress(match)])])
    .flatMap((address) => URL.parse(address) ?? [])
    .filter(({ username, password }) => username === '' && password === '')

export const withoutAddresses = (text: string): string => text.replaceAll(ADDRESS, ' ')

export const writtenAddresses = (message: string): URL[] => addressesIn(withoutDocumentNames(message))
