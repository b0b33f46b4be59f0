import { joinUnspacedLines } from '#contract/unspaced-lines.ts'

/** Undoes the line breaks of a page: hyphens at line ends and scripts without blanks join, other breaks become blanks. */
export const joinLines = (text: string) =>
  joinUnspacedLines(text)
    .replace(/(\p{L})[-\u00ad]\s*\n\s*(?=\p{Ll})/gu, '$1')
    .replace(/-\s*\n\s*/g, '-')
    .replace(/\s+/g, ' ')
