/** What models say, as PostgreSQL can store it: without NUL characters and without halves of surrogate pairs. */

export const toStorableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

export interface TextCleaner {
  /** Takes the next piece; returns what can be stored of it, holding back half a pair that the next piece may complete. */
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
