/** Every system can unpack these file names, and they stay in their folder. */

/** Leaves room for folders, a number and an extension in a path of 255 bytes. */
const MAX_NAME_BYTES = 150
const MAX_FOLDERS_BYTES = 70

/** Windows treats these names as devices, with any extension. */
const WINDOWS_DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

const encoder = new TextEncoder()

function truncateBytes(text: string, maxBytes: number): string {
  let cut = ''
  let bytes = 0
  for (const character of text) {
    bytes += encoder.encode(character).length
    if (bytes > maxBytes) return cut
    cut += character
  }
  return cut
}

export function safeName(given: string, fallback: string): string {
  const cleaned = given
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029\ufffd]/gu, '')
    .replaceAll(/[/\\:*?"<>|]/g, '-')
    .replaceAll(/\s+/g, ' ')
  const cut = truncateBytes(cleaned, MAX_NAME_BYTES).replaceAll(/^[. ]+|[. ]+$/g, '')
  return cut === '' ? fallback : cut.replace(WINDOWS_DEVICES, '$1_')
}

/** The folders nearest to the file, where all of them would make its path too long. */
export function safeFolders(folder: string): string[] {
  const names = folder
    .split('/')
    .filter(Boolean)
    .map((name) => safeName(name, 'folder'))
  while (encoder.encode(names.join('/')).length > MAX_FOLDERS_BYTES) names.shift()
  return names
}

/** Paths are unique even without case, which some file systems ignore. */
export function createEntryNames(): (folder: string, stem: string, extension: string) => string {
  const taken = new Set<string>()
  return function name(folder, stem, extension) {
    for (let copy = 1; ; copy += 1) {
      const path = `${folder}/${stem}${copy === 1 ? '' : ` (${copy})`}${extension}`
      const key = path.toLowerCase()
      if (taken.has(key)) continue
      taken.add(key)
      return path
    }
  }
}

/** The extension includes its dot and is short alphanumeric ASCII, or empty. */
export function splitExtension(name: string): [stem: string, extension: string] {
  const found = /^(.+)(\.[a-z0-9]{1,8})$/i.exec(name)
  return found ? [found[1] ?? '', found[2] ?? ''] : [name, '']
}
