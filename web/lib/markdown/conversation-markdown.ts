import { inertMarkdown, inertText } from '#contract/inert-markdown.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { formatMoment } from '#web/lib/format/format-moment.ts'
import { answerAsides } from '#web/lib/messages/answer-asides.ts'
import type { ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { withFootnotes } from './markdown-copy.ts'

/** A conversation as one self-contained Markdown text that loads nothing; each answer is followed by its sources. */
export function conversationMarkdown(title: string, messages: readonly ThreadMessage[]): string {
  const parts = messages.map((message, index) => partOf(message, `${index + 1}-`))
  return [`# ${inertText(title)}`, ...parts].filter((part) => part !== '').join('\n\n') + '\n'
}

function partOf(
  { sender_role: role, content, metadata, created_at: createdAt }: ThreadMessage,
  prefix: string,
): string {
  if (role === SENDER_ROLES.tool) return metadata?.tool_name === undefined ? '' : `*Used ${metadata.tool_name}*`
  const isQuestion = role === SENDER_ROLES.user
  const words = isQuestion ? inertMarkdown(content) : withFootnotes(content, metadata?.sources ?? [], prefix)
  const heading = `## ${isQuestion ? 'Question' : 'Answer'}, ${formatMoment(createdAt)}`
  const asides = isQuestion ? [] : answerAsides(metadata).map((sentence) => `*${inertText(sentence)}*`)
  return [heading, words.trim(), ...asides].filter((part) => part !== '').join('\n\n')
}
