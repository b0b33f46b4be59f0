/** Tokens and cost of an answer: reserved before the model is asked, counted when the answer has ended. */
import type { Database } from '#server/database/scope.ts'
import type { ChatModel } from '#server/providers/chat.ts'
import { costOf, type ModelPrice, type PriceOf } from '#server/providers/model-prices.ts'
import { ProviderError } from '#server/providers/provider-error.ts'
import type { ClaimedReply, Spent } from './claimed-reply.ts'

type AdmittedReply = Pick<ClaimedReply, 'id' | 'attempt' | 'durable'>

export interface UsageLimits {
  /** False: no limit on tokens or costs is set, so that answers begin without being admitted. */
  readonly areSet: () => boolean
  readonly priceOf: PriceOf
}

export interface ChargedModel {
  readonly identifier: string
  readonly isPersonal: boolean
  readonly contextWindow: number
}

const MAX_RESERVED_TOKENS = 16_000
/** The prompt takes most of a small window; model servers refuse a prompt and an answer that are longer together. */
const RESERVED_SHARE = 1 / 4
/** A cautious estimate: most languages take more characters for a token. */
const BYTES_PER_TOKEN = 3

export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)

const FREE: ModelPrice = { in: 0, out: 0 }

export function chargeOf(
  { identifier, isPersonal }: Omit<ChargedModel, 'contextWindow'>,
  tokens: { readonly in: number; readonly out: number },
  priceOf: PriceOf = () => FREE,
): Spent {
  const sum = tokens.in + tokens.out
  return isPersonal
    ? { tokens: 0, ownTokens: sum, cost: 0 }
    : { tokens: sum, ownTokens: 0, cost: costOf(tokens, priceOf(identifier)) }
}

/**
 * Reserves an upper bound, so that answers at the same time do not exceed a limit together.
 * @returns the most tokens that the answer may write; undefined where no limit is near @throws ProviderError `limit_reached`
 */
export async function admitAnswer(
  database: Database,
  reply: AdmittedReply,
  { identifier, isPersonal, contextWindow }: ChargedModel,
  tokensIn: number,
  limits: UsageLimits | undefined,
): Promise<number | undefined> {
  if (isPersonal || limits?.areSet() !== true) return undefined
  await reply.durable
  const price = limits.priceOf(identifier)
  const wanted = Math.max(1, Math.min(MAX_RESERVED_TOKENS, Math.floor(contextWindow * RESERVED_SHARE)))
  const { rows } = await database.serviceStatement<{ granted: string; refusal: string | null }>(
    'select granted, refusal from reserve_usage($1, $2, $3, $4, $5, $6)',
    [reply.id, reply.attempt, tokensIn, wanted, price.in, price.out],
  )
  const refusal = rows[0]?.refusal
  if (refusal !== null && refusal !== undefined) throw new ProviderError('limit_reached', refusal, { retryable: true })
  const granted = Number(rows[0]?.granted ?? wanted)
  // Where nothing is short, a longer answer is the model's own business.
  return granted < wanted ? granted : undefined
}

interface CountedRequests {
  readonly database: Database
  readonly reply: AdmittedReply & Pick<ClaimedReply, 'owner'>
  readonly charged: ChargedModel
  readonly limits: UsageLimits | undefined
}

interface CountedChat {
  readonly database: Database
  readonly owner: string
  readonly charged: Omit<ChargedModel, 'contextWindow'>
  readonly priceOf: PriceOf | undefined
  /** Called with the estimated tokens of a request. @throws where a limit is reached */
  readonly admit?: (tokensIn: number) => Promise<unknown>
}

/** Counts each whole request, such as that for a title, when it has ended. */
export function countRequests(chat: ChatModel, { database, owner, charged, priceOf, admit }: CountedChat): ChatModel {
  const count = async (tokens: { readonly in: number; readonly out: number }) => {
    const spent = chargeOf(charged, tokens, priceOf)
    await database.serviceStatement(
      'insert into usage_events (owner, day, tokens, own_tokens, cost) values ($1, utc_today(), $2, $3, $4)',
      [owner, spent.tokens, spent.ownTokens, spent.cost],
    )
  }
  return {
    ...chat,
    async complete(request) {
      const estimated = estimateTokens(request.system + request.turns.map(({ content }) => content).join('\n'))
      await admit?.(estimated)
      const answer = await chat.complete(request).catch(async (error: unknown) => {
        // A request that was stopped has been read.
        if (request.signal.aborted) await count({ in: estimated, out: 0 })
        throw error
      })
      await count({ in: answer.tokensIn ?? estimated, out: answer.tokensOut ?? estimateTokens(answer.text) })
      return answer
    },
  }
}

/** Admits and counts the short requests of an answer, such as notes on pages, each when it has ended. */
export function countShortRequests(chat: ChatModel, { database, reply, charged, limits }: CountedRequests): ChatModel {
  return countRequests(chat, {
    database,
    owner: reply.owner,
    charged,
    priceOf: limits?.priceOf,
    admit: (tokensIn) => admitAnswer(database, reply, charged, tokensIn, limits),
  })
}
