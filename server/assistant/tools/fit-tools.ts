/**
 * Which tools a model is offered. Their definitions go with every request of an answer, and a person may have connected
 * servers with dozens: together they get a share of the model's window, or the conversation would be left none.
 */
import { loadCounter, tokenMargin, maxTokens } from '#server/assistant/prompt/tokens.ts'
import { type ChatTool } from '#server/providers/chat.ts'

export type ToolDefinition = Pick<ChatTool, 'name' | 'description' | 'parameters'>

interface FittedTools<Tool extends ToolDefinition> {
  readonly fitting: readonly Tool[]
  /** Names of those for which there was no room. */
  readonly omitted: readonly string[]
}

const TOOLS_SHARE = 0.2

/** The text that the provider counts: name, purpose and parameters. */
export const describeTool = ({ name, description, parameters }: ToolDefinition): string =>
  JSON.stringify({ name, description, parameters })

/** Those that fit, the first ones first; bytes bound tokens from above, so that a few are never counted. */
export async function fitTools<Tool extends ToolDefinition>(
  tools: readonly Tool[],
  { contextWindow, provider }: { readonly contextWindow: number; readonly provider: string | undefined },
): Promise<FittedTools<Tool>> {
  const most = tools.reduce((sum, tool) => sum + maxTokens(describeTool(tool)), 0)
  let left = Math.floor(contextWindow * TOOLS_SHARE)
  if (most * tokenMargin(provider) <= left) return { fitting: tools, omitted: [] }
  const counter = await loadCounter(provider)
  const offered: Tool[] = []
  const leftOut: string[] = []
  for (const tool of tools) {
    const tokens = await counter.count(describeTool(tool))
    if (tokens > left) leftOut.push(tool.name)
    else {
      left -= tokens
      offered.push(tool)
    }
  }
  return { fitting: offered, omitted: leftOut }
}
