import { LIKELY_MARKER } from '#contract/citation-marker.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { MessageSource } from '#contract/source.ts'
import type { ConsideredMessage } from '#contract/trace.ts'
import { parseCommands } from '#server/assistant/tools/commands.ts'
import {
  findEarlierMessages,
  type EarlierMessage,
  type TurnsInPrompt,
} from '#server/conversations/earlier-message-queries.ts'
import type { Scope } from '#server/database/scope.ts'
import { parseQuestion } from '#server/search/query/parse-question.ts'
import { removeQuestionPhrases } from '#server/search/query/question-phrases.ts'
import { detectLanguage } from '#server/search/text/detect-language.ts'
import { splitPassages } from '#server/search/text/passages.ts'
import { stemWords, type Terms } from '#server/search/text/stemmer.ts'
import { isStopWord } from '#server/search/text/stop-words.ts'
import { foldAccents, wordsOf } from '#server/search/text/tokenizer.ts'

export type EarlierMessagePassage = Omit<MessageSource, 'n'>

export const isSameMessage = (one: EarlierMessagePassage, other: EarlierMessagePassage): boolean =>
  one.messageId === other.messageId && one.text === other.text

export interface EarlierMessages {
  readonly messages: readonly EarlierMessagePassage[]
  readonly considered: readonly ConsideredMessage[]
}

const MAX_QUERY_WORDS = 12
/** Bounds the text that is read from all messages together, as a few may be very long. */
const MAX_CHARACTERS = 400_000
const MIN_PREFIX_CHARACTERS = 3
/** Minimum share of the rarity of the question's words that occur in any message. */
const MIN_RARITY_COVERAGE = 0.34
const MIN_WORD_COVERAGE = 0.5
/** As in server/search/ranking/bm25.ts, with less weight on the length of a message. */
const [K1, B] = [1.2, 0.65]
const QUESTION_WEIGHT = 0.5
const QUESTION = /[?？؟]["'”’»)\s]*$/u
const [SAMPLE_MESSAGES, SAMPLE_CHARACTERS, MIN_SAMPLE_CHARACTERS] = [30, 400, 30]
const MARKERS = new RegExp(String.raw`\s?${LIKELY_MARKER}`, 'g')

/** The prefix that a word shares with all of its terms: every form of the word contains it. */
function commonPrefix(word: string, terms: readonly string[]): string {
  const plain = foldAccents(word)
  const shared = terms.reduce((length, term) => {
    let index = 0
    while (index < length && plain[index] === term[index]) index += 1
    return index
  }, plain.length)
  return shared < Math.min(MIN_PREFIX_CHARACTERS, plain.length) ? plain : plain.slice(0, shared)
}

interface QueryTerm {
  readonly terms: readonly string[]
  readonly rarity: number
}

interface Candidate {
  readonly message: EarlierMessage
  readonly text: string
  readonly words: readonly string[]
}

function cutMessages(messages: readonly EarlierMessage[]): Candidate[] {
  const candidates: Candidate[] = []
  let room = MAX_CHARACTERS
  for (const message of messages) {
    const content = message.content.slice(0, Math.max(0, room))
    room -= content.length
    const isFromPerson = message.senderRole === SENDER_ROLES.user
    const said = isFromPerson ? parseCommands(content).text : content.replace(MARKERS, '')
    for (const { start, end } of splitPassages(said)) {
      const text = said.slice(start, end)
      candidates.push({ message, text, words: wordsOf(isFromPerson ? removeQuestionPhrases(text) : text) })
    }
  }
  return candidates
}

interface Scored {
  readonly score: number
  /** Whether it covers enough of the question and adds words of its own. */
  readonly isRelevant: boolean
}

/** BM25 over the words of the question. An earlier question with the same words adds nothing. */
function scorePassage(
  { message, text, words }: Candidate,
  { queryTerms, stems, averageLength, isContentWord }: ScoringContext,
): Scored {
  const counts = new Map<string, number>()
  for (const word of words) for (const term of stems.get(word) ?? [word]) counts.set(term, (counts.get(term) ?? 0) + 1)
  const norm = K1 * (1 - B + (B * words.length) / averageLength)
  let [score, matched, covered] = [0, 0, 0]
  for (const { terms, rarity } of queryTerms) {
    const count = Math.max(0, ...terms.map((term) => counts.get(term) ?? 0))
    if (count === 0) continue
    score += (rarity * count * (K1 + 1)) / (count + norm)
    covered += rarity
    matched += 1
  }
  const total = queryTerms.reduce((sum, { rarity }) => sum + rarity, 0)
  const askedTerms = new Set(queryTerms.flatMap(({ terms }) => terms))
  const saysMore = words.some(
    (word) => isContentWord(word) && !(stems.get(word) ?? [word]).some((term) => askedTerms.has(term)),
  )
  const isAsking = message.senderRole === SENDER_ROLES.user && QUESTION.test(text)
  return {
    score: isAsking ? score * QUESTION_WEIGHT : score,
    isRelevant: saysMore && covered >= MIN_RARITY_COVERAGE * total && matched >= MIN_WORD_COVERAGE * queryTerms.length,
  }
}

interface ScoringContext {
  readonly queryTerms: readonly QueryTerm[]
  readonly stems: Terms
  readonly averageLength: number
  readonly isContentWord: (word: string) => boolean
}

/** Languages of the person's documents and recent messages: one question is often too short to detect its language. */
async function languagesOf(scope: Scope, question: string): Promise<string[]> {
  const { rows } = await scope.query<{ languages: string[]; said: string[] }>(
    `select array(select distinct unnest(languages) from search_segments where owner = any ((select libraries_to('read'))::uuid[])) as languages,
       array(
         select left(m.content, $1) from (
           select message_id from message_texts where owner = (select auth.uid()) order by position desc limit $2
         ) as newest join messages m on m.id = newest.message_id
       ) as said`,
    [SAMPLE_CHARACTERS, SAMPLE_MESSAGES],
  )
  const [{ languages, said } = { languages: [], said: [] }] = rows
  const telling = [question, ...said].filter((text) => text.length >= MIN_SAMPLE_CHARACTERS)
  return [...new Set([...languages, ...telling.map(detectLanguage)])]
}

/** The best passage of each message, except turns that the prompt already contains. Runs as the person. */
export async function searchEarlierMessages(
  scope: Scope,
  question: string,
  { turnsInPrompt, limit }: { turnsInPrompt: TurnsInPrompt; limit: number },
): Promise<EarlierMessages> {
  const languages = await languagesOf(scope, question)
  const { words } = await parseQuestion(scope, question, languages)
  const wanted = [...words].toSorted(([one], [other]) => other.length - one.length).slice(0, MAX_QUERY_WORDS)
  const parts = wanted.map(([word, terms]) => commonPrefix(word, terms))
  const { messages, rarities } = await findEarlierMessages(scope, parts, turnsInPrompt)
  if (messages.length === 0) return { messages: [], considered: [] }

  const candidates = cutMessages(messages)
  const stems = await stemWords(scope, new Set(candidates.flatMap((candidate) => candidate.words)), languages)
  const scoring: ScoringContext = {
    queryTerms: wanted.map(([, terms], index) => ({ terms, rarity: rarities[index] ?? 0 })),
    stems,
    averageLength: candidates.reduce((sum, candidate) => sum + candidate.words.length, 0) / candidates.length,
    isContentWord: (word) => !isStopWord(word, languages),
  }
  const ranked = candidates
    .map((candidate) => ({ ...candidate, ...scorePassage(candidate, scoring) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
  return chooseBest(ranked, limit)
}

function chooseBest(ranked: readonly (Candidate & Scored)[], limit: number): EarlierMessages {
  const texts = new Set<string>()
  const seen = new Set<string>()
  const found: EarlierMessagePassage[] = []
  const considered: ConsideredMessage[] = []
  for (const { message, text, score, isRelevant } of ranked) {
    const { messageId, conversationId, position, title, senderRole, createdAt } = message
    if (seen.has(messageId)) continue
    seen.add(messageId)
    const words = text.replace(/\s+/g, ' ').toLowerCase()
    const cut = texts.has(words) ? 'copy' : found.length === limit || !isRelevant ? 'rank' : null
    texts.add(words)
    if (cut === null) found.push({ messageId, conversationId, position, title, senderRole, createdAt, text, score })
    considered.push({ messageId, conversationId, title, createdAt, score, cut })
  }
  return { messages: found, considered }
}
