import { z } from 'zod'
import type { ToolRequest } from '#contract/tool-server.ts'
import type { ClaimedReply } from '#server/assistant/lease/claimed-reply.ts'
import type { ResultBudget } from '#server/assistant/prompt/result-budget.ts'
import { storedContent, type ToolOutcome } from '#server/assistant/tools/outcome.ts'
import { escapeAttribute, escapeText } from '#server/assistant/tools/prompt-elements.ts'
import { AppError } from '#server/base/errors.ts'
import type { ToolConsents } from '#server/connections/tool-consent.ts'
import type { ConnectedServer } from '#server/connections/tool-servers.ts'
import type { ChatTool } from '#server/providers/chat.ts'
import type { McpTool, ToolClient } from '#server/providers/mcp-client.ts'
import type { RecordRun } from './tool-definitions.ts'

interface McpToolOptions {
  readonly reply: ClaimedReply
  readonly servers: readonly ConnectedServer[]
  readonly consents: ToolConsents
  readonly record: RecordRun
  readonly budget: ResultBudget
  readonly showConsentRequest: (run: number, name: string, request: ToolRequest | undefined) => void
}

export interface McpToolSet {
  readonly tools: readonly ChatTool[]
  close(): Promise<void>
}

/** The longest name that all providers accept. */
const MAX_NAME_LENGTH = 64
const MAX_TOOLS = 64
/** A person cannot review longer arguments before consent, so they are rejected. */
const MAX_ARGUMENTS_CHARACTERS = 100_000
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

const argumentsOf = z.record(z.string(), z.unknown())

const nameOf = (server: string, tool: string): string =>
  `${server}__${tool}`.replace(/[^\w-]/g, '_').slice(0, MAX_NAME_LENGTH)

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** JSON of all arguments, with invisible characters escaped. */
const renderArguments = (given: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(given).replace(INVISIBLE, (character) => character.split('').map(escapeUnit).join(''))

export function createMcpTools({
  reply,
  servers,
  consents,
  record,
  budget,
  showConsentRequest,
}: McpToolOptions): McpToolSet {
  const clients = new Map<string, Promise<ToolClient>>()
  /** One request at a time, as the person sees and answers them in turn. */
  let pendingConsents: Promise<unknown> = Promise.resolve()

  function clientOf(server: ConnectedServer, signal: AbortSignal): Promise<ToolClient> {
    const client = clients.get(server.id) ?? server.open(signal)
    clients.set(server.id, client)
    client.catch(() => clients.delete(server.id))
    return client
  }

  /** @throws AppError where the person denies it or the server does not answer. */
  async function call(
    { server, tool, name, index }: { server: ConnectedServer; tool: McpTool; name: string; index: number },
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const asked = renderArguments(given)
    if (asked.length > MAX_ARGUMENTS_CHARACTERS) {
      const length = asked.length.toLocaleString('en')
      const reason = `What ${tool.name} of ${server.name} was to be called with is too long to be shown to you (${length} characters)`
      throw new AppError('too_large', `${reason}, so it was not called.`)
    }
    const request = { reply, serverId: server.id, tool: tool.name, arguments: given }
    const told = { asked: false }
    const ask = pendingConsents.then(() =>
      consents.ask(request, signal, (id) => {
        told.asked = true
        showConsentRequest(index, name, { id, server: server.name, tool: tool.name, arguments: asked })
      }),
    )
    pendingConsents = ask.catch(() => undefined)
    const answer = await ask
    if (told.asked) showConsentRequest(index, name, undefined)
    if (answer === 'denied') throw new AppError('forbidden', `You did not allow ${tool.name} of ${server.name}.`)
    if (answer === 'expired')
      throw new AppError('forbidden', `Nobody allowed ${tool.name} of ${server.name} in time, so it was not called.`)
    const startedAt = performance.now()
    const client = await clientOf(server, signal)
    const { text, isError } = await client.callTool(tool.name, given, signal)
    const durationMs = Math.round(performance.now() - startedAt)
    const fitted = await budget.fit(text)
    const status = isError ? 'failed' : 'done'
    const shown = fitted.omission === null ? fitted.text : `${fitted.text}\n(${fitted.omission})`
    return { run: { name, status, durationMs, content: storedContent(text, fitted.omission) }, shown }
  }

  const tools = new Map<string, ChatTool>()
  for (const server of servers) {
    for (const tool of server.tools) {
      const name = nameOf(server.name, tool.name)
      if (tools.size >= MAX_TOOLS || tools.has(name)) continue
      tools.set(name, {
        name,
        description: tool.description,
        parameters: tool.parameters,
        async run(input, signal) {
          const given = argumentsOf.parse(input)
          const { run, shown } = await record(name, (index) => call({ server, tool, name, index }, given, signal))
          const text = shown ?? escapeText(run.content)
          return `<tool name="${escapeAttribute(name)}" status="${run.status}">\n${text}\n</tool>`
        },
      })
    }
  }
  return {
    tools: [...tools.values()],
    async close() {
      await Promise.allSettled([...clients.values()].map(async (client) => (await client).close()))
    },
  }
}
