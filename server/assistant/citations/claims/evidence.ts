/** Passages and other texts that an answer may rest on. */

export interface Passage {
  /** All that the model was given of it, with the names of its file and sections. */
  readonly text: string
  readonly page?: number | undefined
}

export interface Evidence {
  readonly numbers: ReadonlySet<number>
  /** Undefined where only a part of the source is known, so that nothing can be checked. */
  readonly passageOf: (n: number) => Passage | undefined
  /** The question and what else the answer may repeat without a source. */
  readonly known: readonly string[]
  /** Names of documents, which an answer may write anywhere. */
  readonly fileNames?: readonly string[]
}
