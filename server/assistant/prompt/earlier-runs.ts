/** Adds tool results to the questions that caused them, so that later turns can refer to them. Pure. */
import { OTHER_WORDS_STEP } from '#contract/reply-events.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { escapeAttribute, escapeText } from '#server/assistant/tools/prompt-elements.ts'
import type { Turn } from '#server/conversations/queries.ts'

const MAX_RUN_CHARACTERS = 2_000

function showRun({ tool_name, content }: Turn): string {
  const rest = content.length > MAX_RUN_CHARACTERS ? '\n(The rest is left out.)' : ''
  const shown = escapeText(content.slice(0, MAX_RUN_CHARACTERS).toWellFormed())
  return `<tool name="${escapeAttribute(tool_name ?? 'tool')}">\n${shown}${rest}\n</tool>`
}

/** Steps of the program bring back nothing that a later turn could mean. */
const isOfTool = ({ tool_name }: Turn): boolean => tool_name !== OTHER_WORDS_STEP

/** Drops runs whose question is not in `history`. */
export function withToolRuns(history: readonly Turn[]): Turn[] {
  const turns: Turn[] = []
  let question = -1
  for (const turn of history) {
    const asked = turns[question]
    if (turn.sender_role !== SENDER_ROLES.tool) {
      if (turn.sender_role === SENDER_ROLES.user) question = turns.length
      turns.push(turn)
    } else if (asked && isOfTool(turn)) turns[question] = { ...asked, content: `${asked.content}\n\n${showRun(turn)}` }
  }
  return turns
}
