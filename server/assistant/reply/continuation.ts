import { z } from 'zod'
import { source, type Source } from '#contract/source.ts'
import {
  isQuotable,
  isSameQuotable,
  type QuotableSource,
  type UnnumberedQuotable,
} from '#server/assistant/extractive/quotable.ts'
import type { Scope } from '#server/database/scope.ts'

export interface UnfinishedAnswer {
  readonly text: string
  readonly sources: readonly Source[]
}

export const NO_ANSWER: UnfinishedAnswer = { text: '', sources: [] }

/** Runs as the person. */
export async function readUnfinishedAnswer(scope: Scope, answerId: string): Promise<UnfinishedAnswer> {
  const { rows } = await scope.query<{ content: string; sources: unknown }>(
    `select content, metadata -> 'sources' as sources from messages where id = $1`,
    [answerId],
  )
  const [answer] = rows
  return answer ? { text: answer.content, sources: z.array(source).catch([]).parse(answer.sources) } : NO_ANSWER
}

/** Sources of an earlier answer; none without an answer. Runs as the person. */
export async function readSourcesOf(scope: Scope, answerId: string | undefined): Promise<readonly Source[]> {
  return answerId === undefined ? [] : (await readUnfinishedAnswer(scope, answerId)).sources
}

/** Cited sources keep their numbers; new ones are numbered after them. */
export function appendSources(cited: readonly Source[], found: readonly QuotableSource[]): readonly Source[] {
  if (cited.length === 0) return found
  const last = Math.max(...cited.map(({ n }) => n))
  const known = cited.filter(isQuotable)
  const others = found.filter((one) => !known.some((other) => isSameQuotable(one, other)))
  return [...cited, ...others.map((one, index) => ({ ...one, n: last + index + 1 }))]
}

/** The numbers of found passages among the sources, where those that are cited already keep theirs. */
export function numbersOf(found: readonly UnnumberedQuotable[], sources: readonly Source[]): number[] {
  const known = sources.filter(isQuotable)
  return found.flatMap((one) => known.find((other) => isSameQuotable(one, other))?.n ?? [])
}
