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
