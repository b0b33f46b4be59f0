/** What passes between an answer and the model that writes it, whichever provider it is. */

export interface ChatTurn {
  readonly role: 'user' | 'assistant'
  readonly content: string
  /** Of a user: shown before the words. */
  readonly pictures?: readonly ChatPicture[]
}

export interface ChatPicture {
  /** Its file name. */
  readonly name: string
  /** A JPEG. */
  readonly bytes: Uint8Array
}

/** A function that a model may call while it answers. */
export interface ChatTool {
  /** Letters, digits, `_` and `-`, at most 64 of them. */
  readonly name: string
  readonly description: string
  /** JSON Schema of its arguments, which are one object. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Resolves with what the model reads of it. What it throws is told to the model, unless the signal is aborted. */
  readonly run: (input: unknown, signal: AbortSignal) => Promise<string>
}

export interface ChatRequest {
  readonly system: string
  readonly turns: readonly ChatTurn[]
  /** What the model may call; a model that knows no tools answers without them. */
  readonly tools?: readonly ChatTool[]
  /** Aborting closes the provider's connection. */
  readonly signal: AbortSignal
  /**
   * Nothing more is to come soon: the text has ended, for good or until the model goes on, which is read once this resolves.
   * Not every provider says so.
   */
  readonly onPause?: () => Promise<void>
}

/** `finish` comes last, with the provider's own token counts where it gave any; cut: at the limit of its length. */
export type ChatPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** The model takes no pictures: it answers without them. */
  | { readonly type: 'pictures-refused' }
  /** A call that came to nothing before the tool was reached, or in it. The model knows. */
  | { readonly type: 'failed-call'; readonly name: string; readonly error: unknown }
  | {
      readonly type: 'finish'
      readonly tokensIn: number | null
      readonly tokensOut: number | null
      readonly isCut?: boolean
    }

/** Takes a part in the turn in which it was read: parts that wait in queues cost more than all else that is done to them. */
export type GivePart = (part: ChatPart) => void

export interface ShortAnswer {
  /** Empty where the model only thought. */
  readonly text: string
  /** At the limit of its length: the end is missing. */
  readonly isCut: boolean
}

export interface ChatModel {
  readonly identifier: string
  /** Resolves when everything was given. @throws ProviderError, or the reason of an aborted signal. */
  stream(request: ChatRequest, give: GivePart): Promise<void>
  /**
   * A short answer as a whole; a provider that cannot take it at the moment is asked once more. @throws ProviderError, or
   * the reason of an aborted signal.
   */
  complete(request: ChatRequest): Promise<ShortAnswer>
}
