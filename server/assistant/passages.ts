/** Which passages of the documents a question is answered with. */
import { type Scope } from '#server/database/scope.ts'
import { type FoundPassage, searchPassages } from '#server/documents/search.ts'
import { type ParsedMessage, type ToolCall } from './tools/commands.ts'
import { isSamePassage, searchKnowledge } from './tools/knowledge.ts'
import { type ToolRun } from './tools/outcome.ts'

export interface Retrieval {
  /** What the documents were asked. */
  readonly asked: string
  readonly passages: readonly FoundPassage[]
  /** How each `@knowledge` went. */
  readonly runs: ReadonlyMap<ToolCall, ToolRun>
}

const MOST_PASSAGES = 8

/**
 * Run as the person. `@knowledge` says what to look for and where; otherwise the whole message is looked for.
 * @param onlyWhereAsked leaves the documents alone where the message asks for other tools.
 */
export async function findPassages(
  scope: Scope,
  { before, calls, text }: ParsedMessage,
  { onlyWhereAsked }: { onlyWhereAsked: boolean },
): Promise<Retrieval> {
  const knowledge = calls.filter(({ name }) => name === 'knowledge')
  if (knowledge.length === 0) {
    const isElsewhere = onlyWhereAsked && calls.length > 0
    return {
      asked: text,
      passages: isElsewhere ? [] : await searchPassages(scope, text, { limit: MOST_PASSAGES }),
      runs: new Map(),
    }
  }
  const runs = new Map<ToolCall, ToolRun>()
  const passages: FoundPassage[] = []
  const asked: string[] = []
  const share = Math.ceil(MOST_PASSAGES / knowledge.length)
  for (const call of knowledge) {
    const found = await searchKnowledge(scope, { argument: call.argument, before }, share)
    runs.set(call, found.run)
    asked.push(found.asked)
    for (const passage of found.passages)
      if (!passages.some((other) => isSamePassage(passage, other))) passages.push(passage)
  }
  return { asked: asked.join(' '), passages, runs }
}
