/** Tool runs of one answer, shown live and stored under their attempt, or with the text of their answer if it exists. */
import type { ClaimedReply } from '#server/assistant/lease/claimed-reply.ts'
import type { ReplyClaims } from '#server/assistant/lease/claims.ts'
import { readRuns } from '#server/assistant/tool-calls/stored-runs.ts'
import type { RecordRun } from '#server/assistant/tool-calls/tool-definitions.ts'
import type { ExternalTools } from '#server/assistant/tools/external-tools.ts'
import { type Finding, MAX_TOOL_RUNS, type ToolOutcome, type ToolRun } from '#server/assistant/tools/outcome.ts'
import { readFindings } from '#server/assistant/tools/stored-findings.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { isTransientFailure } from '#server/database/errors.ts'
import type { Scope } from '#server/database/scope.ts'
import type { ReplyContext } from './context.ts'
import type { ReplyWriter } from './reply-log.ts'

export interface ToolRuns {
  readonly count: () => number
  readonly unstored: () => ReadonlyMap<number, ToolRun>
  /** Stores steps that were shown live already. */
  readonly storeSteps: (steps: readonly ToolRun[]) => Promise<void>
  /** Runs the commands without a run, concurrently; resolves with the web findings once all runs are stored. */
  readonly runCommands: (tools: ReplyContext['commands']) => Promise<Finding[]>
  /** Records a run that the model requested. @throws AppError `rate_limited` after too many. */
  readonly record: RecordRun
  readonly recordFailure: (name: string, reason: string) => Promise<void>
}

interface ToolRunOptions {
  readonly reply: ClaimedReply
  readonly firstRun: number
  readonly writer: ReplyWriter
  readonly replyClaims: ReplyClaims
  readonly externalTools: ExternalTools
  readonly read: <T>(run: (scope: Scope) => Promise<T>) => Promise<T>
  readonly signal: AbortSignal
  readonly log: Log
  readonly onLost: () => void
}

export function createToolRuns(options: ToolRunOptions): ToolRuns {
  const { reply, firstRun, writer, replyClaims, externalTools, read, signal, log, onLost } = options
  const unstored = new Map<number, ToolRun>()
  let count = 0

  const showRunning = (name: string, run: number) =>
    writer.append({ type: 'tool', tool: { name, status: 'running', run } })

  async function store(runs: readonly ToolRun[], from: number): Promise<void> {
    for (const [index, { name, status, durationMs }] of runs.entries())
      writer.append({ type: 'tool', tool: { name, status, durationMs, run: from + index } })
    await persist(runs, from)
  }

  async function persist(runs: readonly ToolRun[], from: number): Promise<void> {
    // Later runs wait with those that could not be stored: rows have the order of their insertion.
    if (reply.kind === 'answer' && unstored.size === 0 && (await storeNow(runs, from))) return
    for (const [index, run] of runs.entries()) unstored.set(firstRun + from + index, run)
  }

  /** The model would call a tool again that seems to have failed, whatever it did: false, where the database is away. */
  async function storeNow(runs: readonly ToolRun[], from: number): Promise<boolean> {
    try {
      if (!(await replyClaims.storeToolRuns(reply, runs, firstRun + from))) onLost()
      return true
    } catch (error) {
      if (!isTransientFailure(error)) throw error
      log.warn({ err: error, reply: reply.id }, 'tool runs are stored with their answer, as they could not be before')
      return false
    }
  }

  async function runTyped(tools: ReplyContext['commands']): Promise<Finding[]> {
    if (tools.length === 0) return []
    if (reply.kind === 'continue') {
      const stored = await read((scope) => readRuns(scope, reply))
      const calls = tools.map(({ call }) => call)
      const findings = readFindings(calls, stored)
      if (findings) return findings
    }
    const first = count
    count += tools.length
    for (const [index, { call }] of tools.entries()) showRunning(call.name, first + index)
    const outcomes = await Promise.all(
      tools.map(async ({ call, run }) => (run ? { run } : await externalTools.run(call, signal))),
    )
    const runs = outcomes.map(({ run }) => run)
    await store(runs, first)
    return outcomes.flatMap(({ finding }) => finding ?? [])
  }

  const record: RecordRun = async (name, run) => {
    if (count >= MAX_TOOL_RUNS) throw new AppError('rate_limited', 'No more tools can be called for this answer.')
    const index = count
    count += 1
    showRunning(name, index)
    const startedAt = performance.now()
    const outcome = await run(index).catch((error: unknown): ToolOutcome => {
      signal.throwIfAborted()
      if (!(error instanceof AppError)) log.error({ err: error, tool: name }, 'a tool failed')
      const reason = error instanceof AppError ? error.message : 'Something went wrong while the tool ran.'
      const durationMs = Math.round(performance.now() - startedAt)
      return {
        run: { name, status: 'failed', durationMs, content: reason },
        finding: { kind: 'failure', tool: name, reason },
      }
    })
    await store([outcome.run], index)
    return outcome
  }

  return {
    count: () => count,
    unstored: () => unstored,
    async storeSteps(steps) {
      if (steps.length === 0) return
      const first = count
      count += steps.length
      await persist(steps, first)
    },
    runCommands: runTyped,
    record,
    async recordFailure(name, content) {
      if (count < MAX_TOOL_RUNS)
        await record(name, () => Promise.resolve({ run: { name, status: 'failed', durationMs: 0, content } }))
    },
  }
}
