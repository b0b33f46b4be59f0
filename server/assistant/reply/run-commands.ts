import { READER_MODEL } from '#contract/product-names.ts'
import type { SourceList } from '#server/assistant/citations/source-list.ts'
import { type FindingSection, quoteFindings } from '#server/assistant/tool-calls/quote-findings.ts'
import { type Finding, MAX_TOOL_RUNS } from '#server/assistant/tools/outcome.ts'
import type { Attempt } from './attempt.ts'
import { listContextSources, type ReplyContext } from './context.ts'
import type { ReplyDependencies } from './dependencies.ts'
import { createToolRuns, type ToolRuns } from './tool-runs.ts'

export interface CommandResults {
  readonly findings: readonly Finding[]
  readonly sourceList: SourceList
  /** Findings as the extractive answerer quotes them; empty for a language model. */
  readonly sections: readonly FindingSection[]
  readonly toolRuns: ToolRuns
}

export async function runCommands(
  { reply, writer, stopwatch, read, signal, lose }: Attempt,
  context: ReplyContext,
  { replyClaims, externalTools, log }: ReplyDependencies,
): Promise<CommandResults> {
  const toolRuns = createToolRuns({
    reply,
    // A continuation numbers its runs after those of earlier parts.
    firstRun: context.unfinished.text.length * MAX_TOOL_RUNS,
    writer,
    replyClaims,
    externalTools,
    read,
    signal,
    log,
    onLost: lose,
  })
  const sourceList = listContextSources(context)
  await toolRuns.storeSteps(context.steps)
  const findings = await toolRuns.runCommands(context.commands)
  if (context.commands.length > 0) stopwatch.lap('tools')
  signal.throwIfAborted()
  for (const finding of findings) sourceList.addFinding(finding)
  const isQuoting = context.model.identifier === READER_MODEL && findings.length > 0
  const sections = isQuoting ? await read((scope) => quoteFindings(scope, findings, sourceList.numberOf)) : []
  return { findings, sourceList, sections, toolRuns }
}
