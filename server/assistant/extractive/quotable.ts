/** Sources that hold words of the person's own library, to be quoted: passages of documents, and of what was said. */
import { isMessageSource, isWebSource, type MessageSource, type PassageSource, type Source } from '#contract/source.ts'
import { isSameMessage, type EarlierMessagePassage } from '#server/assistant/retrieval/earlier-messages.ts'
import { isSamePassage } from '#server/assistant/tools/knowledge.ts'
import { type FoundPassage } from '#server/search/read-passages.ts'

export type QuotableSource = PassageSource | MessageSource
/** A quotable source without a number. */
export type UnnumberedQuotable = FoundPassage | EarlierMessagePassage

/** The id of the document, or of the message, that it is a part of. */
export const containerIdOf = (source: QuotableSource): string =>
  isMessageSource(source) ? source.messageId : source.documentId

/** A file's name without its ending. */
export const withoutExtension = (filename: string): string => filename.replace(/\.[A-Za-z0-9]{1,5}$/, '')

export const isQuotable = (source: Source): source is QuotableSource => !isWebSource(source)

export function isSameQuotable(one: UnnumberedQuotable, other: UnnumberedQuotable): boolean {
  if ('messageId' in one) return 'messageId' in other && isSameMessage(one, other)
  return 'documentId' in other && isSamePassage(one, other)
}
