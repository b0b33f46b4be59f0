/** Finds figures, dates and names of an answer that are not in the passages cited for them. Pure; no model is asked. */
import type { UnverifiedClaim } from '#contract/message.ts'
import { detectLanguage } from '#server/search/text/detect-language.ts'
import { type Operands, isComputed } from './claims/computed-figures.ts'
import { type Approximation, type ClaimContext, type FigureText, isInText, isInTexts, isYearClaim, readFigureText } from './claims/compare-figures.ts' // prettier-ignore
import { countsOf, isCountOf } from './claims/counted-items.ts'
import type { Evidence, Passage } from './claims/evidence.ts'
import { type Figure, findFigures, type NumberFigure } from './claims/figures.ts'
import { blankOut, foldText } from './claims/fold-text.ts'
import { createNameCheck } from './claims/names.ts'
import { numeralLanguages } from './claims/number-words.ts'
import { unattachedMagnitudes } from './claims/units.ts'
import { type AnswerBlock, citedBlocks } from './cited-sentences.ts'

/** These bound the work on an answer, which blocks the event loop; what exceeds them is not checked. */
const MAX_ANSWER_CHARACTERS = 100_000
const MAX_SOURCE_CHARACTERS = 100_000
const MAX_ALL_SOURCE_CHARACTERS = 400_000
const MAX_CLAIMS = 300
const MAX_FOUND = 100
/** Figures that a sum or a difference may be computed from stand this near. */
const NEAR_CHARACTERS = 600
const MAX_CLAIM_CHARACTERS = 200

const ABOUT =
  /(?:^|[^\p{L}])(?:about|around|approx(?:imately|\.)?|roughly|circa|c\.|ca\.?|some|nearly|almost|close to|in the order of|etwa|ungefähr|rund|circa|zirka|fast|knapp|nahezu|annähernd|gut|environ|près de|autour de|presque|quelque|à peu près|alrededor de|aproximadamente|cerca de|unos|unas|casi|circa|quasi|intorno a|cerca di|aproximadamente|por volta de|quase|ongeveer|bijna|omstreeks|około|ok\.|prawie|niemal|około|ungefär|nästan|cirka|omkring|næsten|nesten|noin|lähes|přibližně|téměř|asi|около|примерно|почти|приблизительно|yaklaşık|حوالي|نحو|تقريبا|लगभग|करीब|kira-kira|~|≈|±)[ ~]?(?:the |a |die |der |das |le |la |les |l')?(?:[$€£¥]|eur |usd |us\$)?$|(?:約|约|およそ|ほぼ|大约|近|将近|약|거의) ?$/u
const BELOW =
  /(?:^|[^\p{L}])(?:almost|nearly|just under|under|below|less than|up to|fewer than|not quite|fast|knapp|unter|weniger als|bis zu|nahezu|presque|près de|moins de|jusqu'à|casi|menos de|hasta|quasi|meno di|quase|bijna|minder dan|prawie|mniej niż|почти|менее|до|<|≤)[ ]?(?:[$€£¥]|eur |usd |us\$)?$|(?:近|不到|未満|弱|미만) ?$/u
const ABOVE =
  /(?:^|[^\p{L}])(?:more than|over|above|at least|upwards of|just over|exceed(?:s|ed|ing)?|well over|mehr als|über|gut|mindestens|plus de|au moins|dépass\p{L}*|más de|al menos|oltre|più di|almeno|mais de|pelo menos|meer dan|ruim|ponad|więcej niż|co najmniej|более|свыше|больше|>|≥)[ ]?(?:[$€£¥]|eur |usd |us\$)?$|(?:超过|超過|以上|超|이상|넘는) ?$/u
const CONTEXT_CHARACTERS = 24

function approximationBefore(text: string, at: number, end: number): Approximation {
  const before = text.slice(Math.max(0, at - CONTEXT_CHARACTERS), at)
  if (BELOW.test(before) || /^ ?(?:未満|弱)/.test(text.slice(end, end + 3))) return 'below'
  if (ABOVE.test(before) || /^(?: or more| odd|\+| ?(?:以上|超|余|多))/.test(text.slice(end, end + 8))) return 'above'
  return ABOUT.test(before) || /^ ?(?:左右|前後|程度|or so)/.test(text.slice(end, end + 6)) ? 'about' : undefined
}

/** Numbers that order the answer itself. */
const FORM =
  /(?:^|[^\p{L}])(?:step|schritt|étape|etape|paso|passo|stap|krok|steg|trin|шаг|option|variante|point|punkt|source|sources|quelle|quellen|fuente|fonte|bron|källa|źródło|источник|passage|reference|zitat|citation|note|anmerkung|fußnote|footnote)s?[ #.:]{0,3}(?:no\.? ?|nr\.? ?)?$|(?:步骤|来源|出典|ステップ|手順|第)$/u
const PAGE = /(?:^|[^\p{L}])(?:pages?|pp?\.|seiten?|s\.|página|páginas|pagina|pág\.|blz\.|str\.|strona|с\.|стр\.|sida|side|หน้า|صفحة) ?$|(?:第|頁|页)$/u // prettier-ignore

function isOfForm(figure: NumberFigure, text: string, block: AnswerBlock, pages: ReadonlySet<number>): boolean {
  const before = text.slice(Math.max(0, figure.start - CONTEXT_CHARACTERS), figure.start)
  const value = figure.readings[0]?.value ?? 0
  const isPlain = figure.unit === undefined && !figure.hasDecimals
  if (isPlain && value < 100 && FORM.test(before) && !/第$/.test(before)) return true
  const isPage =
    figure.unit?.family === 'page' ||
    PAGE.test(before) ||
    /^ ?(?:ページ|頁|页|쪽)/.test(text.slice(figure.end, figure.end + 4))
  if (isPage && pages.has(value)) return true
  // "(1) … (2) …" and "1) …" order the parts of a sentence, "1. Title" a heading.
  const isBracketed = /\($/.test(before) && text.charAt(figure.end) === ')'
  if (isPlain && isBracketed && value <= 20 && text.includes('(1)')) return true
  if (isPlain && block.kind === 'heading' && figure.start === 0) return true
  return isPlain && /^\s*$/.test(before) && figure.start < 4 && /^[.)]\s/.test(text.slice(figure.end, figure.end + 2))
}

const THIRD_PARTY = /^(?:third|dritt\p{L}*|tercer\p{L}*|terz\p{L}*|terceir\p{L}*|derde\p{L}*)$/u
const PARTY = /^[ -](?:part|countr|pays|país|paes|person|land)/u

/** Words that are no statement of a number: "one of them", "third parties", "first". */
function isIdiom(figure: NumberFigure, text: string): boolean {
  if (!figure.isWord) return false
  if (figure.readings[0]?.value === 1) return figure.unit === undefined || figure.isOrdinal
  const [word, after] = [text.slice(figure.start, figure.end), text.slice(figure.end, figure.end + 10)]
  return THIRD_PARTY.test(word) && (PARTY.test(after) || !/^[ -]\p{L}/u.test(after))
}

interface CitedTexts {
  readonly figures: readonly FigureText[]
  readonly passages: readonly Passage[]
}

/** Reads sources once, and only those that a claim needs; undefined where one is unknown or too long. */
function createTexts({ passageOf }: Evidence) {
  const read = new Map<number, FigureText | undefined>()
  let left = MAX_ALL_SOURCE_CHARACTERS
  const textOf = (n: number, passage: Passage): FigureText | undefined => {
    if (!read.has(n)) {
      left -= passage.text.length
      const isLong = passage.text.length > MAX_SOURCE_CHARACTERS || left < 0
      read.set(n, isLong ? undefined : readFigureText(passage.text, numeralLanguages(detectLanguage(passage.text))))
    }
    return read.get(n)
  }
  return (cited: readonly number[]): CitedTexts | undefined => {
    const passages = cited.map((n) => passageOf(n))
    const figures = passages.map((passage, index) => passage && textOf(cited[index] ?? 0, passage))
    if (figures.length === 0 || figures.includes(undefined)) return undefined
    return {
      figures: figures.filter((text) => text !== undefined),
      passages: passages.filter((one) => one !== undefined),
    }
  }
}

const MAX_FILE_NAMES = 50
const MIN_NAME_CHARACTERS = 4

/** A file name with and without its ending, as an answer may write it. */
function namesOfFile(fileName: string): string[] {
  const folded = foldText(fileName)
  const short = folded.replace(/\.[a-z0-9]{1,5}$/, '')
  return [folded, short, short.replace(/[-_]+/g, ' ')].filter(
    (name) => name.length >= MIN_NAME_CHARACTERS && /\p{L}/u.test(name),
  )
}

function fileNameRanges(folded: string, names: readonly string[]): { start: number; end: number }[] {
  return names.flatMap((name) => {
    const ranges: { start: number; end: number }[] = []
    for (let at = folded.indexOf(name); at !== -1; at = folded.indexOf(name, at + name.length))
      ranges.push({ start: at, end: at + name.length })
    return ranges
  })
}

/** Parts of an answer that are in none of the passages cited for them, in their order. */
export function findUnverified(answer: string, evidence: Evidence): UnverifiedClaim[] {
  const checked = answer.slice(0, MAX_ANSWER_CHARACTERS)
  if (![...evidence.numbers].some((n) => checked.includes(`[${n}]`))) return []
  const languages = numeralLanguages(detectLanguage(checked))
  const textsOf = createTexts(evidence)
  const known = evidence.known.map((text) => readFigureText(text.slice(0, MAX_SOURCE_CHARACTERS), languages))
  const fileNames = (evidence.fileNames ?? []).slice(0, MAX_FILE_NAMES).flatMap(namesOfFile)
  const blocks = citedBlocks(checked, evidence.numbers)
  const names = createNameCheck(blocks, evidence)
  const found: UnverifiedClaim[] = []
  let claims = 0
  for (const [index, block] of blocks.entries()) {
    if (claims >= MAX_CLAIMS || found.length >= MAX_FOUND) break
    if (block.sentences.every(({ cited }) => cited.length === 0)) continue
    const folded = foldText(block.text)
    const named = fileNameRanges(folded, fileNames)
    const figures = findFigures(blankOut(block.text, named), { languages, isSource: false })
    const magnitudes = unattachedMagnitudes(folded)
    const ranges: { start: number; end: number }[] = []
    for (const sentence of block.sentences) {
      if (claims >= MAX_CLAIMS) break
      const texts = textsOf(sentence.cited)
      if (!texts) continue
      const near = figures.filter(
        ({ start }) => start >= sentence.start - NEAR_CHARACTERS && start < sentence.end + NEAR_CHARACTERS,
      )
      const own = near
        .filter(({ start }) => start >= sentence.start && start < sentence.end)
        .slice(0, MAX_CLAIMS - claims)
      claims += own.length
      ranges.push(
        ...unverifiedFigures(own, { blocks, index, folded, figures: near, sentence, texts, known, magnitudes }),
        ...names.unverified(block, sentence, [...near, ...named]),
      )
    }
    for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
      const [from, to] = [block.offsets[start], block.offsets[end - 1]]
      if (from === undefined || to === undefined || found.length >= MAX_FOUND) continue
      const text = checked.slice(from, Math.min(to + 1, from + MAX_CLAIM_CHARACTERS))
      // A cut between the halves of a character cannot be stored.
      found.push({ start: from, text: text.replace(/[\ud800-\udbff]$/, '') })
    }
  }
  return found
}

interface SentenceCheck {
  readonly blocks: readonly AnswerBlock[]
  /** Which block the sentence is in. */
  readonly index: number
  readonly folded: string
  /** Figures of the sentence and around it. */
  readonly figures: readonly Figure[]
  readonly sentence: AnswerBlock['sentences'][number]
  readonly texts: CitedTexts
  readonly known: readonly FigureText[]
  readonly magnitudes: readonly number[]
}

const MAX_SPANNED_YEARS = 6
const SPAN =
  /since|between|until|later|after|seit|zwischen|später|nach|depuis|entre|après|desde|después|dal|dopo|sinds|tussen|после|между|с \d|以来|间|間|から|부터|منذ/u

/** "For three years" where the passage names 2019 and 2022. */
function isTimeSpan({ unit, readings }: NumberFigure, words: string, texts: readonly FigureText[]): boolean {
  if (!SPAN.test(words) || unit?.family !== 'months' || unit.factor !== 12) return false
  const years = [...new Set(texts.flatMap((text) => [...text.years]))]
  const isBetween = (one: number) => years.some((other) => other - one === readings[0]?.value)
  return years.length <= MAX_SPANNED_YEARS && years.some(isBetween)
}

function unverifiedFigures(claims: readonly Figure[], check: SentenceCheck): Figure[] {
  const { blocks, index, folded, sentence, texts, known } = check
  const block = blocks[index]
  if (!block) return []
  const pages = new Set(texts.passages.flatMap(({ page }) => page ?? []))
  const all = [...texts.figures, ...known]
  const isFound = (claim: Figure): boolean => {
    const context: ClaimContext = {
      approximation: approximationBefore(folded, claim.start, claim.end),
      magnitudes: check.magnitudes,
    }
    const written = block.text.slice(claim.start, claim.end)
    if (all.some((text) => isInText(claim, written, text, context))) return true
    if (claim.kind === 'date') return isInTexts(claim, all)
    return false
  }
  const open = claims.filter(
    (claim) =>
      !(claim.kind === 'number' && (isOfForm(claim, folded, block, pages) || isIdiom(claim, folded))) &&
      !isFound(claim),
  )
  if (open.length === 0) return []
  const words = folded.slice(sentence.start, sentence.end)
  const isOpen = new Set<Figure>(open)
  const numbersOf = (figures: readonly Figure[]) =>
    figures.filter((figure) => figure.kind === 'number').filter((figure) => !isYearClaim(figure))
  const operands: Operands = {
    ofAnswer: numbersOf(check.figures.filter((figure) => !isOpen.has(figure))),
    ofSources: numbersOf(texts.figures.flatMap(({ numbers }) => numbers)),
  }
  return open.filter((claim) => {
    if (claim.kind !== 'number') return true
    if (isYearClaim(claim)) return true
    if (isComputed(claim, words, operands) || isTimeSpan(claim, words, texts.figures)) return false
    const counts = countsOf(blocks, index, sentence)
    return !isCountOf(claim, folded, { answer: counts, texts: texts.figures })
  })
}
