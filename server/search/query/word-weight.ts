/** Chinese characters of grammar or questions: a pair with one of them is more about the sentence than the subject. */
const GRAMMAR_CHARACTERS = new Set(
  '的了是在和与及或也就都而着被把将之其于以为对从向到由吗呢吧么哪谁何几什怎多少这那个些',
)
const HAN = /^\p{Script=Han}+$/u
const HAS_HIRAGANA = /\p{Script=Hiragana}/u
/** Particles and endings are hiragana, so such a pair is mostly grammar; names and nouns are Han or katakana. */
const GRAMMAR_WEIGHT = 0.3
/** A single character is found in more words than one. */
const SINGLE_HAN_WEIGHT = 0.5

/** 1 for a word about the subject of a question, 0 for one of grammar only. */
export function weighWord(word: string): number {
  if (HAS_HIRAGANA.test(word)) return GRAMMAR_WEIGHT
  if (!HAN.test(word)) return 1
  const characters = Array.from(word)
  const grammar = characters.filter((character) => GRAMMAR_CHARACTERS.has(character)).length
  if (grammar > 0) return grammar === characters.length ? 0 : GRAMMAR_WEIGHT
  return characters.length === 1 ? SINGLE_HAN_WEIGHT : 1
}
