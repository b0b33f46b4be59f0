import { isMessageSource, isWebSource, type MessageSource, type PassageSource, type Source } from '#contract/source.ts'
import { isSameMessage, type EarlierMessagePassage } from '#server/assistant/retrieval/earlier-messages.ts'
import { type FoundPassage, isSamePassage } from '#server/search/read-passages.ts'

export type QuotableSource = PassageSource | MessageSource
export type UnnumberedQuotable = FoundPassage | EarlierMessagePassage

export const containerIdOf = (source: QuotableSource): string =>
  isMessageSource(source) ? source.messageId : source.documentId

export const withoutExtension = (filename: string): string => filename.replace(/\.[A-Za-z0-9]{1,5}$/, '')

export const isQuotable = (source: Source): source is QuotableSource => !isWebSource(source)

export function isSameQuotable(one: UnnumberedQuotable, other: UnnumberedQuotable): boolean {
  if ('messageId' in one) return 'messageId' in other && isSameMessage(one, other)
  return 'documentId' in other && isSamePassage(one, other)
}

export const numbered = <T extends object>(sources: readonly T[]): (T & { n: number })[] =>
  sources.map((source, index) => ({ ...source, n: index + 1 }))
