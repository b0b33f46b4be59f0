/** Which models turn texts into vectors, by their names: most endpoints list nothing else about them. */

/** Families whose names lack "embed". "embedded" is part of names of companies. */
const EMBEDDING_NAME =
  /(?<![a-z])(embed(?!ded)|(bge|gte|e5)(?![a-z\d])|mxbai|minilm|mpnet|labse|sbert|sentence-|paraphrase-|gtr-t5)|embedding/i
/** Rerankers and picture models of these families; embeddings models that read pictures too have another protocol. */
const OTHER_USE = /rerank|cross-encoder|ms-marco|clip|vision/i

export const isEmbeddingModelName = (id: string): boolean => EMBEDDING_NAME.test(id) && !OTHER_USE.test(id)

/** Models for many languages come first, then those of which one is usually meant. */
const RECOMMENDED = [
  /text-embedding-3-small/i,
  /bge-m3/i,
  /qwen3-embedding/i,
  /embeddinggemma/i,
  /multilingual|arctic-embed2|arctic-embed-(l|m)-v2/i,
  /nomic-embed-text-v2/i,
  /nomic-embed-text/i,
]

const rankOf = (id: string): number => {
  const rank = RECOMMENDED.findIndex((pattern) => pattern.test(id))
  return rank < 0 ? RECOMMENDED.length : rank
}

/** Stable: models of one rank keep the order of the endpoint. */
export const recommendedFirst = (ids: readonly string[]): string[] =>
  ids.toSorted((one, other) => rankOf(one) - rankOf(other))
