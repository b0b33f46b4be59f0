/** PostgreSQL stores neither NUL characters nor unpaired surrogates. */

export const toStorableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

export interface TextCleaner {
  /** Returns storable text. A trailing half of a surrogate pair waits for the next piece. */
  push(piece: string): string
}

export function createTextCleaner(): TextCleaner {
  let held = ''
  return {
    push(piece) {
      const text = held + piece
      held = /[\ud800-\udbff]$/.exec(text)?.[0] ?? ''
      return toStorableText(held === '' ? text : text.slice(0, -1))
    },
  }
}
