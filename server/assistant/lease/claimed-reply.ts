import { z } from 'zod'
import type { ReplyPart } from '#contract/reply-events.ts'
import type { ToolRun } from '#server/assistant/tools/outcome.ts'

const claimedQuestion = z.object({
  id: z.guid(),
  messageId: z.guid(),
  conversationId: z.guid(),
  owner: z.guid(),
  answerId: z.guid(),
  /** `rewrite` asks for another version of an existing answer, `continue` for the rest of it. */
  kind: z.enum(['answer', 'rewrite', 'continue']),
  modelName: z.string().nullable(),
  attempt: z.int(),
  /** Number of workers that began it since it was asked or retried, this one included. */
  tries: z.int(),
  hasOwnProviders: z.boolean(),
  stopRequested: z.boolean(),
})

/** A question that this worker may answer while `attempt` is the newest. */
export interface ClaimedReply extends Readonly<z.infer<typeof claimedQuestion>> {
  /** Rejects if the claim may be lost. Write only afterwards: another worker might get an equal attempt number. */
  readonly durable: Promise<void>
}

export function parseClaim(json: string, durable: Promise<void>): ClaimedReply {
  durable.catch(() => undefined)
  return { ...claimedQuestion.parse(JSON.parse(json)), durable }
}

export interface Spent {
  /** Tokens of the installation's own model accounts. */
  readonly tokens: number
  /** Tokens of accounts that the person connected, which no limit concerns. */
  readonly ownTokens: number
  /** In millionths of a dollar. */
  readonly cost: number
}

export interface FinishedAnswer {
  readonly content: string
  readonly hasNewText: boolean
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly spent?: Spent | undefined
  readonly metadata: Readonly<Record<string, unknown>>
  /** Number of tool runs in this answer; undefined leaves the stored ones unchanged. */
  readonly toolRuns?: number | undefined
  readonly unstoredRuns?: ReadonlyMap<number, ToolRun> | undefined
  readonly state: 'done' | 'failed' | 'stopped'
  readonly lastPart: ReplyPart
}
