import { toSimplified } from '#server/search/text/tokenizer.ts'

/** One spelling of a word in Chinese, Japanese or Korean, by which lists of words are looked up. */
export const wordKey = (text: string): string => toSimplified(text.normalize('NFKC').toLowerCase()).trim()
