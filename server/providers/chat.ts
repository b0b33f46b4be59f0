export interface ChatTurn {
  readonly role: 'user' | 'assistant'
  readonly content: string
  /** Only in user turns; placed before the text. */
  readonly pictures?: readonly ChatPicture[]
}

export interface ChatPicture {
  readonly name: string
  /** JPEG data. */
  readonly bytes: Uint8Array
}

export interface ChatTool {
  /** At most 64 letters, digits, `_` and `-`. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments object. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Returns the text for the model. The model also receives the message of a thrown error, unless the signal is aborted. */
  readonly run: (input: unknown, signal: AbortSignal) => Promise<string>
}

export interface ChatRequest {
  readonly system: string
  readonly turns: readonly ChatTurn[]
  /** A model without tool support answers without them. */
  readonly tools?: readonly ChatTool[]
  /** Over all requests of a stream; absent: as the provider limits it. */
  readonly maxOutputTokens?: number | undefined
  readonly signal: AbortSignal
  /** Called at the end of a block of text, if the provider announces it; reading waits for the promise. */
  readonly onPause?: () => Promise<void>
}

/**
 * `finish` comes last. Token counts are the provider's own; null if it sent none. `isCut`: the output limit was reached;
 * `isFiltered`: the provider's content filter ended the answer. `thought`: all text so far was reasoning.
 */
export type ChatPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'thought' }
  | { readonly type: 'pictures-refused' }
  /** The model has received the error. */
  | { readonly type: 'failed-call'; readonly name: string; readonly error: unknown }
  | {
      readonly type: 'finish'
      readonly tokensIn: number | null
      readonly tokensOut: number | null
      readonly isCut?: boolean
      readonly isFiltered?: boolean
    }

/** Synchronous because queueing each part costs more time than all its processing. */
export type EmitPart = (part: ChatPart) => void

export interface ShortAnswer {
  /** Empty if the model wrote only reasoning. */
  readonly text: string
  readonly isCut: boolean
  /** Null where the provider does not tell. */
  readonly tokensIn: number | null
  readonly tokensOut: number | null
}

export interface ChatModel {
  readonly identifier: string
  /** Resolves after the last part. @throws ProviderError, or the reason of an aborted signal. */
  stream(request: ChatRequest, emit: EmitPart): Promise<void>
  /** Retries once if the provider is unavailable. @throws ProviderError, or the reason of an aborted signal. */
  complete(request: ChatRequest): Promise<ShortAnswer>
}
