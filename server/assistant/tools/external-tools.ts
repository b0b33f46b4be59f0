/** Runs the tools that access the web. Failures are outcomes that the person and the model read. */
import { decodeHTML } from 'entities/decode'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { NetworkAccess } from '#server/providers/guarded-fetch.ts'
import type { WebSearch } from '#server/providers/web-search.ts'
import { splitAddress, type ToolCall } from './commands.ts'
import { type Finding, storedContent, type ToolOutcome } from './outcome.ts'
import { readWebPage } from './web-page.ts'

export interface ExternalTools {
  readonly canSearch: boolean
  /** @throws only the reason of an aborted signal. */
  run(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome>
}

export interface ExternalToolsOptions extends NetworkAccess {
  readonly webSearch: WebSearch | null
  readonly log: Log
}

export function describeFinding(finding: Finding): string {
  if (finding.kind === 'failure') return finding.reason
  if (finding.kind === 'page') {
    const { title, address, text } = finding
    return [title, address, '', text].filter((part, index) => index > 0 || part !== '').join('\n')
  }
  if (finding.results.length === 0) return `Nothing was found for "${finding.words}".`
  return finding.results.map(({ title, address, snippet }) => `${title}\n${address}\n${snippet}`).join('\n\n')
}

/** A line break could begin another result in the stored text. */
const decodeLine = (html: string): string => decodeHTML(html).replace(/\s+/g, ' ').trim()

export function createExternalTools({ webSearch, log, ...access }: ExternalToolsOptions): ExternalTools {
  async function readPage(argument: string, signal: AbortSignal): Promise<Finding> {
    const named = splitAddress(argument)
    if (!named) throw new AppError('bad_request', 'Name the address of a page after @web.')
    const page = await readWebPage(named.address, signal, access)
    if (page.text === '') throw new AppError('empty', `${page.address} holds no text that can be read.`)
    return { kind: 'page', ...page, question: named.question }
  }

  async function searchWeb(argument: string, signal: AbortSignal): Promise<Finding> {
    if (argument === '') throw new AppError('bad_request', 'Name what to search for after @search.')
    if (!webSearch)
      throw new AppError('unavailable', 'No search engine is configured. The operator can set SEARCH_PROVIDER.')
    const found = await webSearch.search(argument, signal)
    const results = found
      .filter(({ address }) => !/\s/.test(address))
      .map(({ title, address, snippet }) => ({ title: decodeLine(title), address, snippet: decodeLine(snippet) }))
    return { kind: 'results', words: argument, results }
  }

  /** A new row of `contract/tools.ts` needs a case here. */
  async function find({ name, argument }: ToolCall, signal: AbortSignal): Promise<Finding> {
    switch (name) {
      case 'web':
        return readPage(argument, signal)
      case 'search':
        return searchWeb(argument, signal)
      case 'knowledge':
        throw new Error('@knowledge searches the library, not the web')
    }
  }

  return {
    canSearch: webSearch !== null,
    async run(call, signal) {
      const startedAt = performance.now()
      const finding = await find(call, signal).catch((error: unknown): Finding => {
        signal.throwIfAborted()
        if (!(error instanceof AppError)) log.error({ err: error, tool: call.name }, 'a tool failed')
        const reason = error instanceof AppError ? error.message : 'Something went wrong while the tool ran.'
        return { kind: 'failure', tool: call.name, reason }
      })
      const content = storedContent(describeFinding(finding))
      const status = finding.kind === 'failure' ? 'failed' : 'done'
      const addresses = finding.kind === 'results' ? { addresses: finding.results.map(({ address }) => address) } : {}
      const durationMs = Math.round(performance.now() - startedAt)
      return { run: { name: call.name, status, durationMs, content, ...addresses }, finding }
    },
  }
}
