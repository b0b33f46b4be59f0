/** Words that point back to earlier text, by language: "er" is a pronoun in German, and a verb in Danish. Pure. */
import { COMMON_WORDS } from '#server/search/text/common-words.ts'
import { STOP_WORD_LANGUAGES, isStopWord } from '#server/search/text/stop-words.ts'

interface Pointing {
  /** Regular expressions of whole words, in any case. */
  readonly pronouns?: string
  /** At the beginning of a question. */
  readonly conjunctions?: string
  /** Uses of such words that refer to nothing: before a noun, or as the subject of "there is". Case matters. */
  readonly otherUses?: string
}

const END = String.raw`(?=\s*(?:[?!.,;:…]|$))`
const ALLOWED_IN_FRENCH = 'permis|possible|interdit|nécessaire|obligatoire|autorisé|légal'
const SCANDINAVIAN: Pointing = {
  // Before anything else they are articles, or the subject of an impersonal verb.
  pronouns: String.raw`han|hun|hon|samme|samma|(?:den|det|der|där|denne|dette|detta)${END}`,
  conjunctions: 'og|och|men',
  otherUses: `(?:[Dd]er|[Ee]r)(?!${END})`,
}

const BY_LANGUAGE: Readonly<Record<string, Pointing>> = {
  english: {
    pronouns: 'its|that|this|they|them|their|those|these|there|he|she|him|her|his|same|it',
    conjunctions: 'and|or|but|so|(?:what|how) about',
    otherUses: String.raw`[Ii]t(?= (?:allowed|possible|permitted|necessary|required|forbidden|legal|ok|(?:takes?|costs?) to)(?!\p{L}))|(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere|be|been) there|[Tt]here (?:is|are|was|were|be)`,
  },
  german: {
    pronouns: String.raw`er|sie|es|ihn|ihm|das|dies\p{L}*|dessen|deren|davon|dafür|dazu|daran|damit|dort|derselbe\p{L}*|dieselbe\p{L}*|(?:der|die|den|dem)${END}`,
    conjunctions: 'und|oder|aber',
    otherUses: String.raw`[Dd]as(?= (?:\p{Ll}+(?:e|en)\s+)?\p{Lu})|(?<=[\p{L},] )Sie|[Gg](?:ibt|ab) es|[Ee]s (?:gibt|gab|regnet)|[Ee]s(?= (?:\p{Ll}+ )?(?:erlaubt|möglich|verboten|nötig|gestattet|zulässig)(?!\p{L}))`,
  },
  french: {
    pronouns: 'ça|cela|ceci|il|elle|ils|elles|celui-ci|celle-ci',
    conjunctions: 'et|ou|mais',
    otherUses: String.raw`[Yy] a(?:vait)?-t-il|[Ii]l y a(?:vait)?|[Ff]aut-il|[Ii]l faut|(?:[Ee]st-il|[Ii]l est)(?= (?:${ALLOWED_IN_FRENCH})(?!\p{L}))`,
  },
  spanish: {
    pronouns: 'eso|esto|ello|ella|ellos|ellas|él|allí|lo|mism[oa]s?|l[ao]s? (?:he|has|ha|hemos|han)',
    conjunctions: 'y|o|pero',
    otherUses: '[Ll]o (?:que|de|del|más)|[Ee]s',
  },
  italian: {
    pronouns: String.raw`ess[oaie]|lì|stess[oaie]|quest[oa]|ciò|lo|(?:l[aie] |l['’])(?:ho|hai|ha|abbiamo|avete|hanno)`,
    conjunctions: 'e|o|ma',
    otherUses: String.raw`[Ll]o(?= (?:[Ss][^\Waeiou]|[Zz]|[Gg]n|[Pp][sn]|[XxYy]))|[Ii]l`,
  },
  portuguese: { pronouns: 'isso|isto|aquilo|ele|ela|eles|elas|mesm[oa]s?', conjunctions: 'e|ou|mas' },
  dutch: {
    pronouns: String.raw`dat|dit|deze|daar\p{L}*|hij|zij|hun|dezelfde|hetzelfde|het${END}`,
    conjunctions: 'en|of|maar',
    otherUses: '[Ee]r|[Ee]s',
  },
  swedish: SCANDINAVIAN,
  norwegian: SCANDINAVIAN,
  danish: SCANDINAVIAN,
  finnish: { pronouns: 'hän|sitä|siellä', conjunctions: 'ja|mutta' },
  polish: { pronouns: 'ich|tam', conjunctions: 'a|i|ale|oraz' },
  turkish: { conjunctions: 've|peki' },
}

/** Words that no language above has in another meaning. */
const OF_ANY: Pointing = {
  pronouns:
    'tego|jego|jej|jeho|její|onu|onun|orada|он|она|оно|они|это|этого|его|её|ему|ей|их|там|αυτό|αυτή|εκεί|він|вона|його|її|ذلك|هذا|هذه|هناك|منه|منها|فيه|فيها',
  conjunctions: 'а|и|но|και|та|і|ale|nebo|peki|a(?= (?:kiedy|gdzie|kto|co|jak|ile|kdy|kde|kdo|kolik)(?!\\p{L}))',
}
const UNSPACED = /它|这个|那个|這個|那個|那里|那裡|他|她|其|それ|これ|その|この|そこ|彼|그것|그는|그녀|거기|그곳|이것/gu

const COMMON = new Map(Object.entries(COMMON_WORDS).map(([language, words]) => [language, new Set(words.split(' '))]))
const LANGUAGES = [...new Set([...COMMON.keys(), ...STOP_WORD_LANGUAGES])]

/** The languages with most common words in the question, which is often too short for one; all without a common word. */
function likelyLanguages(question: string): string[] {
  const words = question.toLowerCase().match(/\p{L}+/gu) ?? []
  const counts = new Map(
    LANGUAGES.map((language) => [
      language,
      words.filter((word) => COMMON.get(language)?.has(word) === true || isStopWord(word, [language])).length,
    ]),
  )
  const most = Math.max(...counts.values())
  return LANGUAGES.filter((language) => counts.get(language) === most)
}

const wholeWords = (words: string, flags: string): RegExp => new RegExp(`(?<!\\p{L})(?:${words})(?!\\p{L})`, flags)

interface Patterns {
  readonly pronouns: RegExp
  readonly conjunction: RegExp
  readonly otherUses: RegExp | undefined
}

function patternsOf({ pronouns = '', conjunctions = '', otherUses }: Pointing): Patterns {
  const [ofThese, begin] = [pronouns, conjunctions].map((words) => (words === '' ? '(?!)' : words))
  return {
    pronouns: wholeWords(ofThese ?? '', 'giu'),
    conjunction: new RegExp(`^[^\\p{L}]*(?:${begin ?? ''})(?!\\p{L})`, 'iu'),
    otherUses: otherUses === undefined ? undefined : wholeWords(otherUses, 'gu'),
  }
}

const PATTERNS = new Map(Object.entries(BY_LANGUAGE).map(([language, pointing]) => [language, patternsOf(pointing)]))
const PATTERNS_OF_ANY = patternsOf(OF_ANY)

export interface Signs {
  /** In lower case. */
  readonly pronouns: ReadonlySet<string>
  readonly hasConjunction: boolean
}

/** Signs that a question goes on from earlier text. */
export function findSigns(question: string): Signs {
  const patterns = likelyLanguages(question).flatMap((language) => PATTERNS.get(language) ?? [])
  const text = patterns.reduce(
    (rest, { otherUses }) => (otherUses === undefined ? rest : rest.replace(otherUses, '_')),
    question,
  )
  const all = [...patterns, PATTERNS_OF_ANY]
  const found = [...all.map(({ pronouns }) => pronouns), UNSPACED].flatMap((pattern) => [...text.matchAll(pattern)])
  return {
    pronouns: new Set(found.map(([word]) => word.toLowerCase())),
    hasConjunction: all.some(({ conjunction }) => conjunction.test(text)),
  }
}
