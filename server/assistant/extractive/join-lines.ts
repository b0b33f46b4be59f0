import { joinUnspacedLines } from '#contract/unspaced-lines.ts'

/** Undoes line breaks of a page: hyphens at line ends and unspaced scripts join, other breaks become spaces. */
export const joinLines = (text: string) =>
  joinUnspacedLines(text)
    .replace(/(\p{L})[-\u00ad]\s*\n\s*(?=\p{Ll})/gu, '$1')
    .replace(/-\s*\n\s*/g, '-')
    .replace(/\s+/g, ' ')
