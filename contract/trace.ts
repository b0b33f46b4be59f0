import { z } from 'zod'

/** Average length of a token in English text, for the estimate in `tokens`. */
export const TRACE_CHARACTERS_PER_TOKEN = 4

/**
 * What each method gave a passage: `words` is BM25, `nearness` what words of the question near each other add, `subject`
 * the score with words taken from the first passages found, `meaning` the cosine of the vectors. Only what was computed is
 * there; none is a probability.
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
  /** Traces of former answers lack it. */
  mimetype: z.string().optional(),
  page: z.int().positive(),
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  /** What it was ranked by. */
  score: z.number(),
  scores: passageScores,
  /** Null: it was shown to the model. */
  cut: passageCut.nullable(),
})
export type ConsideredPassage = z.infer<typeof consideredPassage>

/** A passage of what was said in a conversation. */
export const consideredMessage = z.object({
  messageId: z.uuid(),
  conversationId: z.uuid(),
  title: z.string().nullable(),
  createdAt: z.string(),
  score: z.number(),
  /** Null: it was shown to the model. */
  cut: passageCut.nullable(),
})
export type ConsideredMessage = z.infer<typeof consideredMessage>

/** How the passages of an answer were found: kept in `metadata.trace` of the answer, which its owner alone reads. */
export const retrievalTrace = z.object({
  /** `passages`: the best passages; `whole`: a whole document, because the question is about all of it. */
  scope: z.enum(['passages', 'whole']),
  /** Of a whole document that was too long for the model: only its first pages with text were read. */
  pages: z.object({ read: z.int().nonnegative(), of: z.int().positive() }).optional(),
  /** The question as it was searched. */
  query: z.string(),
  /** The terms that were looked up, each with its weight and the number of passages that hold it. */
  terms: z.array(z.object({ term: z.string(), weight: z.number(), passages: z.int() })),
  /** Words that no passage holds, and the terms that were looked for instead. */
  guessed: z.array(z.object({ word: z.string(), terms: z.array(z.string()) })),
  considered: z.array(consideredPassage),
  /** What was said in earlier conversations; absent where it was not looked through. */
  messages: z.array(consideredMessage).optional(),
  /** Passages that shared a word with the question. */
  matched: z.int(),
  /** About how many tokens the passages shown take. */
  tokens: z.int(),
  ms: z.number(),
  /** What did not go as configured, in sentences. */
  notes: z.array(z.string()),
})
export type RetrievalTrace = z.infer<typeof retrievalTrace>
