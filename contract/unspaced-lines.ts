/** Chinese and Japanese, with their signs: words run on from line to line. */
const UNSPACED = '[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}，．：；！？（）]'
const UNSPACED_BREAK = new RegExp(`(?<=${UNSPACED})\\s*\\n\\s*(?=${UNSPACED})`, 'gu')

/** Without the line breaks of scripts that are written without blanks between words: as a blank they would part a word. */
export const joinUnspacedLines = (text: string): string => text.replace(UNSPACED_BREAK, '')
