import { z } from 'zod'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { trimAddress, writtenAddresses } from '#contract/written-addresses.ts'
import type { SourceList } from '#server/assistant/citations/source-list.ts'
import type { ResultBudget } from '#server/assistant/prompt/result-budget.ts'
import { searchKnowledge } from '#server/assistant/retrieval/knowledge.ts'
import { describeFinding, type ExternalTools } from '#server/assistant/tools/external-tools.ts'
import { type Finding, storedContent, type ToolOutcome, type ToolRun } from '#server/assistant/tools/outcome.ts'
import { pageElement, showFinding, showSource } from '#server/assistant/tools/prompt-elements.ts'
import { AppError } from '#server/base/errors.ts'
import type { TurnsInPrompt } from '#server/conversations/earlier-message-queries.ts'
import type { Turn } from '#server/conversations/queries.ts'
import type { Scope } from '#server/database/scope.ts'
import type { ChatTool } from '#server/providers/chat.ts'
import type { Embedder } from '#server/providers/embed.ts'

/** Runs a tool, shows it live and stores the outcome. Rejects only with the reason of an aborted signal. */
export type RecordRun = (name: string, run: (index: number) => Promise<ToolOutcome>) => Promise<ToolOutcome>

interface ToolDefinitionOptions {
  readonly history: readonly Turn[]
  readonly sources: SourceList
  readonly turnsInPrompt: TurnsInPrompt
  readonly externalTools: ExternalTools
  readonly read: <T>(run: (scope: Scope) => Promise<T>) => Promise<T>
  readonly record: RecordRun
  readonly budget: ResultBudget
  readonly embedder: Embedder | null
}

const MAX_PASSAGES = 6

const question = z.object({ question: z.string().trim().min(1).max(2_000) })
const query = z.object({ query: z.string().trim().min(1).max(500) })
const address = z.object({ address: z.url({ protocol: /^https?$/ }).max(2_000) })

const parametersOf = (schema: z.ZodType): Record<string, unknown> => ({
  ...z.toJSONSchema(schema, { target: 'draft-7' }),
})
const PARAMETERS = { knowledge: parametersOf(question), web: parametersOf(address), search: parametersOf(query) }

const normalizeAddress = (given: string): string => {
  const url = URL.parse(trimAddress(given))
  if (!url) return given
  url.hash = ''
  return url.href
}

const foundAddresses = z.array(z.string()).catch([])

function namedAddresses({ sender_role, content, found_addresses }: Turn): readonly string[] {
  if (sender_role === SENDER_ROLES.user) return writtenAddresses(content).map(({ href }) => href)
  return sender_role === SENDER_ROLES.tool ? foundAddresses.parse(found_addresses) : []
}

/**
 * Only addresses that the person wrote or that are a result of a search, not those in the text of a result, a page or an
 * answer: instructions hidden there could otherwise send what was read elsewhere.
 */
const readableAddresses = (history: readonly Turn[]): Set<string> =>
  new Set(history.flatMap((turn) => namedAddresses(turn).map(normalizeAddress)))

export function createToolDefinitions(options: ToolDefinitionOptions): ChatTool[] {
  const { history, sources, turnsInPrompt, externalTools, read, record, budget, embedder } = options
  const known = readableAddresses(history)

  const runExternal = async (name: 'web' | 'search', argument: string, signal: AbortSignal): Promise<string> => {
    const { shown = '' } = await record(name, async () => {
      const outcome = await externalTools.run({ name, argument }, signal)
      return outcome.finding ? fitOutcome(outcome.run, outcome.finding) : outcome
    })
    return shown
  }

  const numberOf = (found: string) => sources.numberOf(found)

  /** Cuts the end of a page, or the last results, so that every element stays closed. */
  async function fitOutcome(run: ToolRun, finding: Finding): Promise<ToolOutcome> {
    const noted = (omission: string | null) =>
      omission === null ? run : { ...run, content: storedContent(describeFinding(finding), omission) }
    if (finding.kind === 'page') {
      const { address, title } = finding
      const { text, omission } = await budget.fit(finding.text)
      sources.addFinding(finding)
      const whole = omission === null ? text : `${text}\n(${omission})`
      return { run: noted(omission), finding, shown: pageElement(numberOf(address), address, title, whole) }
    }
    if (finding.kind === 'failure') return { run, finding, shown: showFinding(finding, 0, numberOf) }
    const items = finding.results.map(({ title, address, snippet }) => [title, address, snippet].join('\n'))
    const { count, omission } = await budget.fitItems(items)
    const found = { ...finding, results: finding.results.slice(0, count) }
    sources.addFinding(found)
    for (const result of found.results) known.add(normalizeAddress(result.address))
    return { run: noted(omission), finding, shown: showFinding(found, 0, numberOf) }
  }

  const knowledge: ChatTool = {
    name: 'knowledge',
    description:
      'Searches the documents of the person, and what was said in their earlier conversations, for other words than those of the question. To look in one document alone, begin with its file name. What an assistant said earlier may be wrong: where a document differs, the document counts.',
    parameters: PARAMETERS.knowledge,
    async run(input) {
      const { question: argument } = question.parse(input)
      const { shown = '' } = await record('knowledge', async () => {
        const { run, passages, messages } = await read((scope) =>
          searchKnowledge(scope, { argument, before: '' }, { limit: MAX_PASSAGES, embedder, turnsInPrompt }),
        )
        const found = [...passages, ...messages]
        const { count, omission } = await budget.fitItems(found.map(({ text }) => text))
        const fitting = found.slice(0, count).map((source) => showSource(sources.addPassage(source)))
        const content = omission === null ? run.content : storedContent(run.content, omission)
        return { run: { ...run, content }, shown: fitting.join('\n') || (omission ?? run.content) }
      })
      return shown
    },
  }
  const web: ChatTool = {
    name: 'web',
    description: 'Reads the page at an address that the person wrote or that a search found. No other address is read.',
    parameters: PARAMETERS.web,
    async run(input, signal) {
      const asked = address.parse(input).address
      if (known.has(normalizeAddress(asked))) return runExternal('web', asked, signal)
      const reason = `${asked} is neither from the person nor from a search, so it is not read.`
      const finding: Finding = { kind: 'failure', tool: 'web', reason }
      await record('web', () =>
        Promise.resolve({ run: { name: 'web', status: 'failed', durationMs: 0, content: reason }, finding }),
      )
      return showFinding(finding, 0, numberOf)
    },
  }
  const search: ChatTool = {
    name: 'search',
    description: 'Asks a search engine of the web. Resolves with titles, addresses and short quotes.',
    parameters: PARAMETERS.search,
    run: (input, signal) => runExternal('search', query.parse(input).query, signal),
  }
  return externalTools.canSearch ? [knowledge, web, search] : [knowledge, web]
}

export const describeRejection = (error: unknown): string =>
  error instanceof z.ZodError
    ? `The arguments do not fit: ${error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}.`
    : error instanceof AppError
      ? error.message
      : 'The tool could not be called this way.'
