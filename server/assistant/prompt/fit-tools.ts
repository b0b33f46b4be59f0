/** Chooses the tools of a model: every request sends their definitions, so they share a limited part of the window. */
import type { ChatTool } from '#server/providers/chat.ts'
import { loadCounter, tokenMargin, maxTokens } from './tokens.ts'

export type ToolDefinition = Pick<ChatTool, 'name' | 'description' | 'parameters'>

interface FittedTools<Tool extends ToolDefinition> {
  readonly fitting: readonly Tool[]
  readonly omitted: readonly string[]
}

const TOOLS_SHARE = 0.2

export const describeTool = ({ name, description, parameters }: ToolDefinition): string =>
  JSON.stringify({ name, description, parameters })

/** Skips tools that do not fit, in order; bytes bound tokens from above, so a few are never counted. */
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
