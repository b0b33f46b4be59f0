/** Chinese and Japanese letters and punctuation: words continue across lines. */
const UNSPACED = '[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}，．：；！？（）]'
const UNSPACED_BREAK = new RegExp(`(?<=${UNSPACED})\\s*\\n\\s*(?=${UNSPACED})`, 'gu')

/** Removes line breaks in scripts without spaces between words, where a space would split a word. */
export const joinUnspacedLines = (text: string): string => text.replace(UNSPACED_BREAK, '')
