/** A command for a person to paste into a shell; arguments are quoted where they need it. */
export const shellCommand = (...words: readonly string[]): string =>
  words.map((word) => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)).join(' ')
