import { z } from 'zod'

/** Average length of a token in English text, for the estimate in `tokens`. */
export const TRACE_CHARACTERS_PER_TOKEN = 4

/**
 * `words`: BM25; `nearness`: bonus for proximity; `subject`: score after query expansion from the first passages;
 * `meaning`: cosine similarity of embeddings. Missing if not computed; none is a probability.
 */
export const passageScores = z.object({
  words: z.number().optional(),
  nearness: z.number().optional(),
  subject: z.number().optional(),
  meaning: z.number().optional(),
})
export type PassageScores = z.infer<typeof passageScores>

/** Why a passage that was considered is not among the sources. */
export const passageCut = z.enum(['rank', 'copy', 'joined', 'room'])

export const consideredPassage = z.object({
  documentId: z.uuid(),
  filename: z.string(),
  /** Missing in traces of old answers. */
  mimetype: z.string().optional(),
  page: z.int().positive(),
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  score: z.number(),
  scores: passageScores,
  /** Null: it was shown to the model. */
  cut: passageCut.nullable(),
})
export type ConsideredPassage = z.infer<typeof consideredPassage>

export const consideredMessage = z.object({
  messageId: z.uuid(),
  conversationId: z.uuid(),
  title: z.string().nullable(),
  createdAt: z.string(),
  score: z.number(),
  cut: passageCut.nullable(),
})
export type ConsideredMessage = z.infer<typeof consideredMessage>

/** Words that were looked for besides a word of the question which few passages hold, or none. */
export const addedWord = z.object({
  word: z.string(),
  /**
   * `everyday`: everyday and formal words for one thing; `translation`: in a language of the documents; `script`: as another
   * script writes the name.
   */
  origin: z.enum(['everyday', 'synonym', 'translation', 'script']),
  words: z.array(z.string()),
  /** Against 1 of the word itself. */
  weight: z.number(),
})
export type AddedWord = z.infer<typeof addedWord>

/** How the passages of an answer were found, in `metadata.trace` of the answer. */
export const retrievalTrace = z.object({
  /** `passages`: the best passages; `whole`: a complete document, for a question about all of it. */
  scope: z.enum(['passages', 'whole']),
  /** The complete document exceeded the model's window or what is read at once: only its first pages with text were read. */
  pages: z.object({ read: z.int().nonnegative(), of: z.int().positive() }).optional(),
  query: z.string(),
  /** Further searches: the parts of the question, and other words that the model gave; absent if there are none. */
  otherWords: z.array(z.string()).optional(),
  /** How well the best passage fits the words of the question, 0 to about 1; missing in traces of old answers. */
  evidence: z.number().optional(),
  /** Search terms, each with its weight and the number of passages that contain it. */
  terms: z.array(z.object({ term: z.string(), weight: z.number(), passages: z.int() })),
  /** Words without a passage, and the terms that replaced them. */
  guessed: z.array(z.object({ word: z.string(), terms: z.array(z.string()) })),
  /** Absent if there are none. */
  added: z.array(addedWord).optional(),
  considered: z.array(consideredPassage),
  /** Messages of earlier conversations; absent if they were not searched. */
  messages: z.array(consideredMessage).optional(),
  /** Number of passages that share a word with the question. */
  matched: z.int(),
  /** Estimated tokens of the passages in the prompt. */
  tokens: z.int(),
  ms: z.number(),
  /** Sentences about steps that did not run as configured. */
  notes: z.array(z.string()),
})
export type RetrievalTrace = z.infer<typeof retrievalTrace>
