import type { DocumentRow } from '#contract/document.ts'
import type { Upload } from './upload-list.ts'

export type UploadStage = 'under way' | 'read' | 'failed'

export function stageOf({ step }: Upload, documents: readonly DocumentRow[] | undefined): UploadStage {
  if (step.at === 'refused') return 'failed'
  if (step.at !== 'taken') return 'under way'
  const known = documents?.find(({ id }) => id === step.document.id)
  // The document was deleted after the upload.
  if (documents && !known) return 'read'
  const { state } = known ?? step.document
  if (state === 'ready') return 'read'
  return state === 'failed' ? 'failed' : 'under way'
}

/** Failed uploads first: below many others they would be overlooked. */
export function failedFirst(uploads: readonly Upload[], documents: readonly DocumentRow[] | undefined): Upload[] {
  const rank = (upload: Upload) => (stageOf(upload, documents) === 'failed' ? 0 : 1)
  return uploads.toSorted((a, b) => rank(a) - rank(b))
}

/** The finished uploads; none while others are under way, because they are announced together. */
export function allOver(uploads: readonly Upload[], documents: readonly DocumentRow[] | undefined): readonly Upload[] {
  return uploads.some((upload) => stageOf(upload, documents) === 'under way') ? [] : uploads
}

const files = (count: number) => (count === 1 ? '1 file' : `${count} files`)

export function describeUploads(stages: readonly UploadStage[]): string {
  const count = (wanted: UploadStage) => stages.filter((stage) => stage === wanted).length
  if (count('under way') > 0) {
    const failed = count('failed') > 0 ? `, ${count('failed')} could not be read` : ''
    return `Reading ${files(count('under way'))}${failed}`
  }
  if (count('failed') > 0) return `${files(count('failed'))} could not be read`
  return `${files(count('read'))} ready`
}
