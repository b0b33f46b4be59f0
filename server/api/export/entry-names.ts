/** Names of files in an archive, made from names that people gave: such as every system unpacks, and none leaves its folder. */

/** Leaves room for a folder, a number and an ending where a path is limited to 255 bytes. */
const LONGEST_BYTES = 150

/** Devices of Windows, which are files of that name whatever follows the first dot. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

const encoder = new TextEncoder()

/** Cuts between characters, at so many bytes of UTF-8. */
function cutAtBytes(text: string, most: number): string {
  let cut = ''
  let bytes = 0
  for (const character of text) {
    bytes += encoder.encode(character).length
    if (bytes > most) return cut
    cut += character
  }
  return cut
}

/** A name without what separates folders, cannot be typed, or turns the direction of writing. */
export function safeName(given: string, fallback: string): string {
  const cleaned = given
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029\ufffd]/gu, '')
    .replaceAll(/[/\\:*?"<>|]/g, '-')
    .replaceAll(/\s+/g, ' ')
  const cut = cutAtBytes(cleaned, LONGEST_BYTES).replaceAll(/^[. ]+|[. ]+$/g, '')
  return cut === '' ? fallback : cut.replace(RESERVED, '$1_')
}

/** Hands out paths, each once: where systems tell no capitals apart, two names that differ in them alone are one. */
export function createEntryNames(): (folder: string, stem: string, ending: string) => string {
  const taken = new Set<string>()
  return function name(folder, stem, ending) {
    for (let copy = 1; ; copy += 1) {
      const path = `${folder}/${stem}${copy === 1 ? '' : ` (${copy})`}${ending}`
      const key = path.toLowerCase()
      if (taken.has(key)) continue
      taken.add(key)
      return path
    }
  }
}

/** The name before its ending, and the ending with its dot; an ending is short and plain. */
export function splitEnding(name: string): [stem: string, ending: string] {
  const found = /^(.+)(\.[a-z0-9]{1,8})$/i.exec(name)
  return found ? [found[1] ?? '', found[2] ?? ''] : [name, '']
}
