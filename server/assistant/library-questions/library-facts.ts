/** Text that tells a model about the library where the question concerns it. */
import { nameWithFolder } from '#contract/document.ts'
import { LATIN_CHARACTERS_PER_TOKEN } from '#server/assistant/prompt/tokens.ts'
import type { Scope } from '#server/database/scope.ts'
import { countByType, type DocumentFacts, listFacts } from '#server/documents/store/document-facts.ts'
import { describeLibraryAnswer, describeTotals } from './describe-library.ts'
import type { LibraryAnswer } from './find-library-answer.ts'
import { concernsLibrary } from './parse-library-question.ts'

const MAX_NAMES = 100
const MAX_FAILURES = 20
const MAX_TOKENS = 2_000
const WINDOW_SHARE = 0.05

const describeNames = (title: string, lines: readonly string[], count: number): string =>
  lines.length === 0
    ? ''
    : `${title}:\n${lines.join('\n')}${count > lines.length ? `\n(and ${count - lines.length} more)` : ''}`

function fitLines(lines: readonly string[], room: number): string[] {
  let used = 0
  return lines.filter((line) => (used += line.length + 1) <= room)
}

export interface LibraryFactsInput {
  /** Without commands. */
  readonly question: string
  readonly answer: LibraryAnswer | undefined
  /** Numbers of the sources that open the documents of the answer, in their order. */
  readonly numbers: readonly number[]
  readonly contextWindow: number
}

/** Undefined where the question does not concern the library. Runs as the person. */
export async function readLibraryFacts(
  scope: Scope,
  { question, answer, numbers, contextWindow }: LibraryFactsInput,
): Promise<string | undefined> {
  if (!answer && !concernsLibrary(question)) return undefined
  const types = answer?.types ?? (await countByType(scope))
  const failed = await listFacts(scope, { states: ['failed'] }, { order: 'name', limit: MAX_FAILURES })
  const named = await listFacts(scope, {}, { order: 'newest', limit: MAX_NAMES })
  const room = Math.min(MAX_TOKENS, Math.floor(contextWindow * WINDOW_SHARE)) * LATIN_CHARACTERS_PER_TOKEN
  const reason = ({ error }: DocumentFacts) => error?.message ?? 'it could not be read'
  const failures = failed.documents.map((document) => `${nameWithFolder(document)}: ${reason(document)}`)
  return [
    describeTotals(types),
    ...(answer ? [`The answer to the question, by program:\n${describeLibraryAnswer(answer, numbers)}`] : []),
    describeNames('Could not be read', fitLines(failures, room / 2), failed.count),
    describeNames('Names, newest first', fitLines(named.documents.map(nameWithFolder), room), named.count),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}
