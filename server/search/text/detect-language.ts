/** Which language a text is in, as far as stemming needs to know: by its script, and by its commonest words. */

/** Languages that PostgreSQL has a stemmer for, by the name of its dictionary. */
const BY_SCRIPT: readonly (readonly [script: RegExp, language: string])[] = [
  [/\p{Script=Arabic}/gu, 'arabic'],
  [/\p{Script=Cyrillic}/gu, 'russian'],
  [/\p{Script=Greek}/gu, 'greek'],
  [/\p{Script=Devanagari}/gu, 'hindi'],
  [/\p{Script=Tamil}/gu, 'tamil'],
  [/\p{Script=Armenian}/gu, 'armenian'],
]

/** The commonest words of languages in Latin letters. */
export const COMMON_WORDS: Readonly<Record<string, string>> = {
  english: 'the of and to in is that for it as was with on be by at this are from which or an have not',
  german:
    'der die und den von das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei',
  french:
    'de la le et les des en un une du que est pour qui dans par au sur pas plus avec ne se sont aux ce il cette ses',
  spanish: 'de la que el en y los se del las un por con no una su para es al lo como más o sus pero fue este entre',
  italian: 'di che la il un a per in una sono del con non della si le da gli dei nel è al come anche alla più lo ha',
  portuguese: 'de a o que e do da em um para com não uma os no se na por mais as dos como mas ao das à foi seu sua são',
  dutch:
    'de van het een en in is dat op te zijn met voor niet aan er om ook als maar dan uit bij door naar nog worden wordt',
  swedish: 'och att det i en som på är av för med den till inte om ett han men var jag sig från vi så kan när',
  norwegian: 'og i det er på til som en å for av at har med de den ikke et om var jeg fra han kan seg skal etter',
  danish: 'og i at det er en til af som på med for de der den ikke et har var fra han jeg kan sig men skal blev',
  finnish: 'ja on ei se että oli hän joka mutta ovat myös kun niin tai sen sekä kuin jos mitä ole ollut vain',
  hungarian: 'a az és hogy nem is egy ez van meg ha csak már de volt mint el vagy azt lehet még ezt ki',
  romanian: 'de și în a la cu o pe care un din nu este mai că pentru să se ce ale sunt prin dar fi au',
  turkish: 've bir bu da de için ile olarak çok daha olan gibi kadar en ne her sonra ise olduğu var mi',
  catalan: 'de la i el que en els a per les un del una amb al és va més com no dels ha es seva són aquest',
  polish: 'i w na z się do nie to że jest o jak po od za przez dla ale tak są co czy ich tym oraz być',
  indonesian:
    'yang dan di untuk dengan dari ini pada itu dalam tidak adalah ke akan oleh juga atau sebagai bisa ada telah',
}

/** From word to the languages that it is common in. */
export type LanguagesOfWord = ReadonlyMap<string, readonly string[]>

/** @param commonWords by language, with blanks between them. */
export function languagesByWord(commonWords: Readonly<Record<string, string>>): LanguagesOfWord {
  const languages = new Map<string, string[]>()
  for (const [language, words] of Object.entries(commonWords)) {
    for (const word of new Set(words.split(' '))) languages.set(word, [...(languages.get(word) ?? []), language])
  }
  return languages
}

const LANGUAGES_OF_WORD = languagesByWord(COMMON_WORDS)

/** Language of words that are left as they are. */
export const NO_LANGUAGE = 'simple'
const SAMPLE_CHARACTERS = 20_000
const LEAST_COMMON_SHARE = 0.06

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/**
 * Name of the stemmer that a document's words are stored under. Tables and forms hold too few common words to tell: in
 * Latin letters they are stemmed as English, which costs words of another language little, as long as questions do the same.
 */
export function detectStemmer(text: string): string {
  const detected = detectLanguage(text)
  const sample = text.slice(0, SAMPLE_CHARACTERS)
  return detected === NO_LANGUAGE && countMatches(sample, /\p{Script=Latin}/gu) > 0.5 * countMatches(sample, /\p{L}/gu)
    ? 'english'
    : detected
}

/** Name of the stemmer for a text, `simple` where none fits. */
export function detectLanguage(text: string): string {
  const sample = text.slice(0, SAMPLE_CHARACTERS)
  const letters = countMatches(sample, /\p{L}/gu)
  if (letters === 0) return NO_LANGUAGE
  for (const [script, language] of BY_SCRIPT) {
    if (countMatches(sample, script) > 0.4 * letters) return language
  }
  return commonestLanguage(sample, LANGUAGES_OF_WORD)
}

/** The language of which most common words, all in Latin letters, stand in a text, `simple` where there are too few of any. */
export function commonestLanguage(text: string, languagesOfWord: LanguagesOfWord): string {
  // A few of them in a Chinese text say nothing about it.
  if (countMatches(text, /\p{Script=Latin}/gu) < 0.5 * countMatches(text, /\p{L}/gu)) return NO_LANGUAGE
  const counts = new Map<string, number>()
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
  for (const word of words) {
    for (const language of languagesOfWord.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1)
  }
  const [best] = [...counts].toSorted(([, left], [, right]) => right - left)
  return best && best[1] >= LEAST_COMMON_SHARE * words.length ? best[0] : NO_LANGUAGE
}
