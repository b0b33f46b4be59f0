import type { DocumentCounts } from '#contract/document.ts'
import type { Upload } from './upload-list.ts'

export type UploadStage = 'under way' | 'read' | 'failed'

export function stageOf({ step }: Upload): UploadStage {
  if (step.at === 'refused') return 'failed'
  if (step.at !== 'taken') return 'under way'
  const state = step.document?.state ?? 'deleted'
  if (state === 'ready' || state === 'deleted') return 'read'
  return state === 'failed' ? 'failed' : 'under way'
}

/** Failed uploads first: below many others they would be overlooked. */
export function failedFirst(uploads: readonly Upload[]): Upload[] {
  const isFailed = (upload: Upload) => stageOf(upload) === 'failed'
  return [...uploads.filter(isFailed), ...uploads.filter((upload) => !isFailed(upload))]
}

/** The finished uploads; none while others are under way, because they are announced together. */
export function allOver(uploads: readonly Upload[]): readonly Upload[] {
  return uploads.some((upload) => stageOf(upload) === 'under way') ? [] : uploads
}

const MANY = 20

/** Whether so many files are counted, and summed up at the end, rather than shown one by one. */
export const isMany = (count: number): boolean => count >= MANY

export interface ReadingProgress {
  /** Files that were read or failed. */
  readonly done: number
  readonly total: number
}

/**
 * The server also counts the files that other pages have sent, the page also those that are not sent yet or were known: what
 * is larger counts.
 */
export function progressOf(uploads: readonly Upload[], counts: DocumentCounts | undefined): ReadingProgress {
  const own = uploads.filter(({ step }) => step.at !== 'refused')
  const ownDone = own.filter((upload) => stageOf(upload) !== 'under way').length
  const unsent = own.filter(({ step }) => step.at === 'sending').length
  const queue = counts?.queue ?? 0
  if (!counts || queue + unsent <= own.length) return { done: ownDone, total: own.length }
  return { done: Math.max(0, queue - counts.being_read - counts.paused), total: queue + unsent }
}

const number = new Intl.NumberFormat('en')
const files = (count: number) => (count === 1 ? '1 file' : `${number.format(count)} files`)

/** One line about all uploads: how far they are, or how they ended. */
export function describeUploads(uploads: readonly Upload[], { done, total }: ReadingProgress): string {
  const count = (wanted: UploadStage) => uploads.filter((upload) => stageOf(upload) === wanted).length
  const failed = count('failed')
  if (done < total) {
    const gone = isMany(total)
      ? `${number.format(done)} of ${number.format(total)} read`
      : `Reading ${files(total - done)}`
    return failed > 0 ? `${gone}, ${number.format(failed)} could not be read` : gone
  }
  if (isMany(uploads.length)) return describeEnd(uploads)
  return failed > 0 ? `${files(failed)} could not be read` : `${files(count('read'))} ready`
}

/** For screen readers: changes when uploads begin and when all are over, not while they go on. */
export function announceUploads(uploads: readonly Upload[]): string {
  if (uploads.length === 0) return ''
  const all = { done: uploads.length, total: uploads.length }
  return allOver(uploads).length > 0 ? describeUploads(uploads, all) : `Uploading ${files(uploads.length)}`
}

function describeEnd(uploads: readonly Upload[]): string {
  const count = (isMeant: (upload: Upload) => boolean) => uploads.filter(isMeant).length
  const refused = count(({ step }) => step.at === 'refused')
  const known = count((upload) => stageOf(upload) === 'read' && upload.step.at === 'taken' && !upload.step.isNew)
  const read = count((upload) => stageOf(upload) === 'read') - known
  const failed = uploads.length - read - known - refused
  const parts = [
    [read, 'ready'],
    [known, 'already in your library'],
    [failed, 'could not be read'],
    [refused, 'refused'],
  ] as const
  const told = parts.filter(([some]) => some > 0).map(([some, words]) => `${number.format(some)} ${words}`)
  return `${files(uploads.length)}: ${told.join(', ')}`
}
