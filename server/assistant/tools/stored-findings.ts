/** Parses findings from the stored runs of commands: the inverse of `describeFinding`. Pure. */
import type { SearchResult } from '#server/providers/web-search.ts'
import { splitAddress, type ToolCall } from './commands.ts'
import type { Finding, ToolRun } from './outcome.ts'

const PAGE = /^(?:(?<title>.*)\n)?(?<address>https?:\/\/\S+)\n\n(?<text>[^]*)$/
const RESULT = /^(?<title>.*)\n(?<address>https?:\/\/\S+)\n(?<snippet>[^]*)$/
const BETWEEN_RESULTS = /\n\n(?=.*\nhttps?:\/\/\S+\n)/

function readPage(content: string, question: string): Finding[] {
  const { address, title = '', text = '' } = PAGE.exec(content)?.groups ?? {}
  return address === undefined ? [] : [{ kind: 'page', address, title, text, question }]
}

function readResult(content: string): SearchResult[] {
  const { address, title = '', snippet = '' } = RESULT.exec(content)?.groups ?? {}
  return address === undefined ? [] : [{ address, title, snippet }]
}

/** Empty for `@knowledge`, as the documents are searched again. */
function readFinding({ name, argument }: ToolCall, { status, content }: ToolRun): Finding[] {
  if (name === 'knowledge') return []
  if (status === 'failed') return [{ kind: 'failure', tool: name, reason: content }]
  if (name === 'web') return readPage(content, splitAddress(argument)?.question ?? '')
  return [{ kind: 'results', words: argument, results: content.split(BETWEEN_RESULTS).flatMap(readResult) }]
}

/** Undefined unless every command has a run. */
export function readFindings(calls: readonly ToolCall[], runs: readonly ToolRun[]): Finding[] | undefined {
  const findings: Finding[] = []
  for (const [index, call] of calls.entries()) {
    const run = runs[index]
    if (run?.name !== call.name) return undefined
    findings.push(...readFinding(call, run))
  }
  return findings
}
