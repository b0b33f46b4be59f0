import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files of a minute and more. Begun last, one of them keeps a single worker busy while the other has nothing left. */
const LONGEST = [
  'server/parsing/real-files.test.ts',
  'server/parsing/ocr/recognise.test.ts',
  'server/documents/ingest/ingest-job.db.test.ts',
  'server/parsing/hostile-files.test.ts',
  'e2e/start.spec.ts',
  'e2e/users-tab.spec.ts',
  'e2e/4.8-voice.spec.ts',
  'e2e/documents-versions.spec.ts',
]

const rankOf = ({ moduleId }: TestSpecification): number => {
  const index = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`))
  return index === -1 ? LONGEST.length : index
}

/** Begins with the longest files; Vitest knows durations from an earlier run alone, and otherwise goes by the size of files. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b))
  }
}
