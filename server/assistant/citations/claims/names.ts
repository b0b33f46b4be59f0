/**
 * Names of an answer that its passages do not hold. Capitals tell a name in most languages with cases; German nouns need a
 * further sign. Names are checked only where the passage is in the script and language of the answer, or where another
 * passage holds the name: institutions and places are translated. Pure.
 */
import type { AnswerBlock, CitedSentence } from '#server/assistant/citations/cited-sentences.ts'
import { detectLanguage, NO_LANGUAGE } from '#server/search/text/detect-language.ts'
import { isStopWord } from '#server/search/text/stop-words.ts'
import { foldAccents } from '#server/search/text/tokenizer.ts'
import type { Evidence, Passage } from './evidence.ts'
import { regionNamed, regionsIn } from './regions.ts'
import { unitNamed, magnitudeNamed } from './units.ts'

interface Place {
  readonly start: number
  readonly end: number
}

interface Word extends Place {
  readonly written: string
  /** Without case and accents. */
  readonly plain: string
  readonly isCapital: boolean
}

const WORD = /\p{L}[\p{L}\p{M}\p{N}]*(?:['’.&][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu
const plainOf = (word: string) =>
  foldAccents(
    word
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[’']s$|[’']$/, ''),
  )

const wordsIn = (text: string): Word[] =>
  [...text.matchAll(WORD)].map(({ 0: written, index }) => ({
    written,
    plain: plainOf(written),
    isCapital: /^\p{Lu}/u.test(written) || /^\p{Ll}\p{Lu}/u.test(written),
    start: index,
    end: index + written.length,
  }))

interface NameText {
  readonly words: ReadonlySet<string>
  /** Stems by their first letters, for inflected names. */
  readonly byPrefix: ReadonlyMap<string, readonly string[]>
  /** Letters alone: names that are hyphenated, joined or broken over lines. */
  readonly squashed: string
  /** Words that occur in small letters: a capital does not make them names. */
  readonly small: ReadonlySet<string>
  /** Words with a capital inside a sentence. */
  readonly capitals: ReadonlySet<string>
  /** First letters of neighbouring words, one string. */
  readonly initials: string
  readonly regions: ReadonlySet<string>
  readonly language: string
  readonly hasCapitals: boolean
  readonly scripts: ReadonlySet<string>
}

const SCRIPTS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['latin', /\p{sc=Latin}{3}/u],
  ['cyrillic', /\p{sc=Cyrillic}{3}/u],
  ['greek', /\p{sc=Greek}{3}/u],
]
const scriptOf = (word: string): string | undefined =>
  /\p{sc=Latin}/u.test(word) ? 'latin' : /\p{sc=Cyrillic}/u.test(word) ? 'cyrillic' : /\p{sc=Greek}/u.test(word) ? 'greek' : undefined // prettier-ignore

const PREFIX = 3
/** Words of two languages that share this many letters may be one name. */
const COGNATE = 4
const HYPHENATED = /(?<=\p{L})[-‐\u00ad]\s*\n\s*(?=\p{Ll})/gu

function readNameText(original: string): NameText {
  const joined = original.replace(HYPHENATED, '')
  const words = wordsIn(joined)
  const plain = new Set(words.map((word) => word.plain))
  for (const word of words) for (const part of word.plain.split(/['’.&]/)) plain.add(part)
  const byPrefix = new Map<string, string[]>()
  for (const word of plain) {
    const prefix = word.slice(0, PREFIX)
    const known = byPrefix.get(prefix)
    if (known) known.push(word)
    else byPrefix.set(prefix, [word])
  }
  return {
    words: plain,
    byPrefix,
    squashed: foldAccents(joined.normalize('NFKC').toLowerCase()).replace(/[^\p{L}\p{N}]+/gu, ''),
    small: new Set(words.filter(({ isCapital }) => !isCapital).map((word) => word.plain)),
    capitals: new Set(
      words
        .filter(({ isCapital, start }) => isCapital && !STARTS.test(joined.slice(Math.max(0, start - 4), start)))
        .map((word) => word.plain),
    ),
    initials: words.map(({ plain: word }) => word.charAt(0)).join(''),
    regions: regionsIn(words.map(({ written }) => written.toLowerCase())),
    language: detectLanguage(original),
    hasCapitals: words.some(({ isCapital }) => isCapital),
    scripts: new Set(SCRIPTS.filter(([, pattern]) => pattern.test(original)).map(([name]) => name)),
  }
}

/** Languages whose endings change names. */
const INFLECTING = new Set(['russian', 'polish', 'finnish', 'hungarian', 'turkish', 'romanian', 'greek', 'czech'])
const MIN_SQUASHED = 5
const MAX_ENDING = 3

function isInflected(word: string, { byPrefix, language }: NameText): boolean {
  const candidates = byPrefix.get(word.slice(0, PREFIX)) ?? []
  return candidates.some((other) => {
    const [short, long] = word.length < other.length ? [word, other] : [other, word]
    if (short.length >= PREFIX + 1 && long.startsWith(short) && long.length - short.length <= MAX_ENDING) return true
    if (!INFLECTING.has(language) && scriptOf(word) === 'latin') return false
    let shared = 0
    while (shared < short.length && short[shared] === long[shared]) shared += 1
    return shared >= 4 && word.length - shared <= MAX_ENDING && other.length - shared <= MAX_ENDING
  })
}

const isAcronym = (written: string) => /^\p{Lu}[\p{Lu}\p{N}.&]{1,7}s?$/u.test(written)

function isNamed(word: Word, text: NameText): boolean {
  if (text.words.has(word.plain) || isInflected(word.plain, text)) return true
  if (word.plain.length >= MIN_SQUASHED && text.squashed.includes(word.plain.replace(/[^\p{L}\p{N}]/gu, '')))
    return true
  const parts = word.plain.split(/['’.&]/).filter((part) => part.length > 1)
  if (parts.length > 1 && parts.every((part) => text.words.has(part))) return true
  if (isAcronym(word.written)) return isAbbreviated(word.plain.replace(/[^\p{L}]/gu, ''), text)
  const region = regionNamed(word.written.toLowerCase().replace(/[’']s$/, ''))
  return region !== undefined && text.regions.has(region)
}

const MIN_COMPOUND = 10

/** "USA" for "United States of America", "BIP" for "Bruttoinlandsprodukt". */
function isAbbreviated(letters: string, { initials, words }: NameText): boolean {
  if (letters.length >= 2 && initials.includes(letters)) return true
  if (letters.length < 3) return false
  // Small words between have initials too: "Department of Energy" is DOE or DE.
  return [...words].some((word) => {
    if (word.length < MIN_COMPOUND || !word.startsWith(letters.charAt(0))) return false
    let at = 0
    for (const character of word) if (character === letters.charAt(at)) at += 1
    return at >= letters.length
  })
}

/** Titles, parts of documents and words that are written with a capital without being names. */
const NO_NAMES = new Set(
  'step option schritt étape paso i mr mrs ms dr prof sir madam herr frau herrn hr fr mme mlle monsieur madame m sr sra señor señora don doña signor signora section sections article articles chapter part annex appendix schedule table figure fig exhibit page paragraph clause item no nr art abs abschnitt artikel kapitel anhang tabelle abbildung absatz nummer seite satz ziffer anlage paragraph teil article chapitre partie annexe tableau figure sección artículo capítulo anexo tabla figura sezione articolo capitolo allegato tabella ceo cfo cto coo vp president vice chief executive officer director manager chairman board company agreement contract act law code regulation directive committee department office the a an in on at yes no note source sources pdf url ok faq id ai it hr pr vs etc am pm ad bc bce ce utc gmt cet max min approx q1 q2 q3 q4 fy'.split(
    ' ',
  ),
)

const LEGAL_FORMS = new Set('gmbh ag inc ltd llc plc corp co kg ohg se sa sarl srl spa nv bv oy ab as kk limited corporation incorporated company holding group'.split(' ')) // prettier-ignore
const CONNECTORS = new Set(
  'of de la le du des der den von van zu zur y e & and et und di da do dos del della for the'.split(' '),
)
/** German nouns by their ending. */
const GERMAN_NOUN = /(?:ung|ungen|heit|heiten|keit|keiten|schaft|schaften|tion|tionen|tät|täten|ismus|nis|nisse|tum|ling|linge|frist|zeit|recht|vertrag|betrag|satz|jahr|jahre|monat|tag|tage|zahl|grad|wert|preis|kosten|verfahren|system|daten|gesetz|plan|bericht|bereich)s?$/u // prettier-ignore
const GERMAN_TITLES = new Set('herr herrn frau dr prof firma kanzler kanzlerin präsident präsidentin minister ministerin professor professorin bürgermeister bürgermeisterin geschäftsführer geschäftsführerin vorsitzender vorsitzende'.split(' ')) // prettier-ignore
const GERMAN_MEASURES = new Set('ende anfang mitte prozent euro million millionen milliarde milliarden uhr art typ stufe phase projekt bereich thema teil seite'.split(' ')) // prettier-ignore

/** Words of an answer that begin after one of these begin a sentence, a label or a quotation. */
const STARTS = /(?:^|[.!?:;…。！？]|[-–—•|]\s|["“„«‘'(\[‚‹])\s*$/u

interface Candidate extends Place {
  readonly words: readonly Word[]
  readonly isAtStart: boolean
}

/** Runs of capitalised words ("Bank of America") in a sentence. */
function runsIn(text: string, { start, end }: Place): Candidate[] {
  const runs: Candidate[] = []
  const words = wordsIn(text.slice(start, end)).map((word) => ({
    ...word,
    start: word.start + start,
    end: word.end + start,
  }))
  for (let index = 0; index < words.length;) {
    const first = words[index]
    if (!first?.isCapital) {
      index += 1
      continue
    }
    const run = [first]
    let next = index + 1
    for (; next < words.length; next += 1) {
      const word = words[next]
      const last = run.at(-1)
      if (!word || !last || !/^[ \n-]{1,2}$|^ & $|^\. $/.test(text.slice(last.end, word.start))) break
      // An initial ("J. Smith"), but not a unit ("230 V. Step 2").
      const isInitial = last.written.length <= 2 && !/\d ?$/.test(text.slice(Math.max(0, last.start - 2), last.start))
      if (/^\. $/.test(text.slice(last.end, word.start)) && !isInitial) break
      if (word.isCapital) run.push(word)
      else {
        const after = words[next + 1]
        if (!CONNECTORS.has(word.plain) || after?.isCapital !== true || !/^ $/.test(text.slice(word.end, after.start)))
          break
        // "Mary and Tom" are two names, "Bank of America" is one.
        if (/^(?:and|et|und|y|e|the|for)$/.test(word.plain)) break
        run.push(word)
      }
    }
    const before = text.slice(Math.max(start, first.start - 4), first.start)
    runs.push({
      words: run,
      start: first.start,
      end: run.at(-1)?.end ?? first.end,
      isAtStart: first.start === start || STARTS.test(before),
    })
    index = next
  }
  return runs
}

export interface NameCheck {
  unverified(block: AnswerBlock, sentence: CitedSentence, figures: readonly Place[]): Place[]
}

const MAX_NAME_CHARACTERS = 400_000

export function createNameCheck(blocks: readonly AnswerBlock[], { passageOf, numbers, known }: Evidence): NameCheck {
  const answer = readNameText(blocks.map(({ text }) => text).join('\n'))
  const knownText = readNameText(known.join('\n'))
  const texts = new Map<number, NameText | undefined>()
  let left = MAX_NAME_CHARACTERS
  const writesNounsCapital = isGerman(answer)
  const readPassage = (passage: Passage): NameText | undefined => {
    left -= passage.text.length
    return left < 0 ? undefined : readNameText(passage.text)
  }
  const textOf = (n: number): NameText | undefined => {
    if (!texts.has(n)) {
      const passage = passageOf(n)
      texts.set(n, passage && readPassage(passage))
    }
    return texts.get(n)
  }
  let cachedOthers: readonly NameText[] | undefined
  const everyText = () => (cachedOthers ??= [...numbers].flatMap((n) => textOf(n) ?? []))
  const isSmallSomewhere = ({ plain }: Word) =>
    answer.small.has(plain) || knownText.small.has(plain) || everyText().some(({ small }) => small.has(plain))

  function isCommon(word: Word): boolean {
    if (word.plain.length < 2 || NO_NAMES.has(word.plain) || LEGAL_FORMS.has(word.plain)) return true
    if (CONNECTORS.has(word.plain) || unitNamed(word.plain) || magnitudeNamed(word.plain) !== undefined) return true
    if (isStopWord(word.plain, [answer.language, 'english'])) return true
    // An acronym defined in the answer itself: "accessory dwelling unit (ADU)".
    if (isAcronym(word.written)) return isAbbreviated(word.plain, answer)
    return isSmallSomewhere(word)
  }

  /** German: a title before it, a neighbour with a capital, or letters that no noun has. */
  function isGermanName(run: Candidate, word: Word): boolean {
    if (GERMAN_NOUN.test(word.plain) && !isAcronym(word.written)) return false
    if (isAcronym(word.written) || /\p{Ll}\p{Lu}/u.test(word.written)) return true
    if (regionNamed(word.written.toLowerCase()) !== undefined) return true
    const at = run.words.indexOf(word)
    const neighbours = [run.words[at - 1], run.words[at + 1]].filter((other) => other !== undefined)
    return neighbours.some(({ plain }) => (GERMAN_TITLES.has(plain) || !GERMAN_MEASURES.has(plain)) && !GERMAN_NOUN.test(plain)) && !(run.isAtStart && at === 0) // prettier-ignore
  }

  /** A single word at the start of a sentence is a name where another passage writes it so, and none in small letters. */
  const isNameElsewhere = (word: Word, cited: readonly number[]) =>
    [...numbers].some((n) => !cited.includes(n) && (textOf(n)?.capitals.has(word.plain) ?? false))

  /** Half of a name is in the passage: names of people and companies are written alike in all languages. */
  function isHalfNamed(run: Candidate, word: Word, sources: readonly NameText[]): boolean {
    const isCognate = sources.some(({ byPrefix }) =>
      (byPrefix.get(word.plain.slice(0, PREFIX)) ?? []).some((other) => other.startsWith(word.plain.slice(0, COGNATE))),
    )
    return (
      !isCognate &&
      run.words.some(
        (other) =>
          other !== word && other.isCapital && !isCommon(other) && sources.some(({ words }) => words.has(other.plain)),
      )
    )
  }

  function isClaimed(
    run: Candidate,
    word: Word,
    {
      cited,
      sources,
      isSameLanguage,
    }: { cited: readonly number[]; sources: readonly NameText[]; isSameLanguage: boolean },
  ): boolean {
    if (isCommon(word)) return false
    const isCountry = regionNamed(word.written.toLowerCase()) !== undefined
    const isFirst = run.isAtStart && run.words[0] === word
    if (writesNounsCapital) {
      if (!isGermanName(run, word)) return false
    } else if (isFirst && !isCountry) {
      const next = run.words[1]
      const isPair = next !== undefined && !isCommon(next)
      if (!isPair && !isNameElsewhere(word, cited)) return false
    }
    if (isSameLanguage || isCountry) return true
    return isNameElsewhere(word, cited) || isHalfNamed(run, word, sources)
  }

  return {
    unverified({ text, kind }, sentence, figures) {
      if (sentence.cited.length === 0 || kind === 'heading') return []
      const cited = sentence.cited.map(textOf)
      const sources = cited.filter((source) => source !== undefined)
      if (sources.length === 0 || sources.length < cited.length) return []
      const languages = sources.map(({ language }) => language)
      const isSameLanguage =
        languages.some((language) => language === answer.language || language === NO_LANGUAGE) ||
        sources.some((source) => sharesWords(answer, source))
      const all = [...sources, knownText]
      const found: Place[] = []
      for (const run of runsIn(text, sentence)) {
        // "**Notice period:**" is a label.
        if (run.isAtStart && /^\s*[:：]/.test(text.slice(run.end, run.end + 3))) continue
        const missing = run.words.filter((word) => {
          const script = scriptOf(word.written)
          if (script === undefined || !sources.some(({ scripts, hasCapitals }) => scripts.has(script) && hasCapitals))
            return false
          if (figures.some(({ start, end }) => start < word.end && word.start < end)) return false
          return (
            !all.some((source) => isNamed(word, source)) &&
            isClaimed(run, word, { cited: sentence.cited, sources, isSameLanguage })
          )
        })
        const [first, last] = [missing[0], missing.at(-1)]
        if (first && last && !all.some((source) => isRegionNamed(run, source) || isInitials(run, source)))
          found.push({ start: first.start, end: last.end })
      }
      for (const { 0: name, index } of text.slice(sentence.start, sentence.end).matchAll(TITLED)) {
        const start = sentence.start + index
        if (!all.some(({ squashed }) => squashed.includes(name.slice(-3)) || squashed.includes(name.slice(0, 3))))
          found.push({ start, end: start + name.length })
      }
      return found
    },
  }
}

/** German, or too short to tell it from others: in doubt, a capital is no sign of a name. */
function isGerman({ language, small }: NameText): boolean {
  if (language === 'german') return true
  const count = (of: string) => [...small].filter((word) => isStopWord(word, [of])).length
  return count('german') > 0 && count('german') >= count('english')
}

const MIN_SHARED = 0.35

/** Short texts are too short to tell their language: the words between the names tell whether it is the same. */
function sharesWords({ small }: NameText, { words }: NameText): boolean {
  const shared = [...small].filter((word) => words.has(word)).length
  return small.size > 0 && shared >= MIN_SHARED * small.size
}

/** Chinese characters before a title that follows the name. */
const TITLED = /\p{sc=Han}{2,6}(?=氏|さん|様|先生|女士|教授|博士|市長|社長|部長)/gu

/** "United States" where the passage says "USA", or another language's name of it. */
function isRegionNamed({ words }: Candidate, { regions }: NameText): boolean {
  const names = regionsIn(words.map(({ written }) => written.toLowerCase()))
  return names.size > 0 && [...names].every((code) => regions.has(code))
}

/** "European Union" where the passage says "EU". */
function isInitials({ words }: Candidate, source: NameText): boolean {
  const letters = words
    .filter(({ isCapital }) => isCapital)
    .map(({ plain }) => plain.charAt(0))
    .join('')
  return letters.length >= 2 && source.words.has(letters)
}
