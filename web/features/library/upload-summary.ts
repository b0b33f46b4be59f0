import type { DocumentRow } from '#contract/document.ts'
import type { Upload } from './upload-list.ts'

export type UploadStage = 'under way' | 'read' | 'failed'

/** How far an upload is, from its own step and from what live changes tell of its document. */
export function stageOf({ step }: Upload, documents: readonly DocumentRow[] | undefined): UploadStage {
  if (step.at === 'refused') return 'failed'
  if (step.at !== 'taken') return 'under way'
  const known = documents?.find(({ id }) => id === step.document.id)
  // Deleted since: there is nothing more to tell.
  if (documents && !known) return 'read'
  const { state } = known ?? step.document
  if (state === 'ready') return 'read'
  return state === 'failed' ? 'failed' : 'under way'
}

const files = (count: number) => (count === 1 ? '1 file' : `${count} files`)

/** One line about all of them: what is still going on first, then what went wrong. */
export function describeUploads(stages: readonly UploadStage[]): string {
  const count = (wanted: UploadStage) => stages.filter((stage) => stage === wanted).length
  if (count('under way') > 0) return `Reading ${files(count('under way'))}`
  if (count('failed') > 0) return `${files(count('failed'))} could not be read`
  return `${files(count('read'))} ready`
}
