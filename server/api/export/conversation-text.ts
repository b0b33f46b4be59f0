import type { ConversationRow } from '#contract/conversation.ts'
import { createInertMarkdown } from '#contract/inert-markdown.ts'
import { DEFAULT_TITLES, PRODUCT_NAME } from '#contract/product-names.ts'
import type { MessageRow } from '#contract/message.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isMessageSource, isWebSource, type Source } from '#contract/source.ts'

export type Messages = AsyncIterable<MessageRow>

export const titleOf = ({ title }: Pick<ConversationRow, 'title'>): string => title?.trim() || DEFAULT_TITLES.listed

const formatTime = (iso: string): string => `${new Date(iso).toISOString().slice(0, 16).replace('T', ' ')} UTC`

export async function* conversationAsJson(conversation: ConversationRow, messages: Messages): AsyncIterable<string> {
  const head = JSON.stringify(conversation, null, 2)
  yield `${head.slice(0, -2)},\n  "messages": [`
  let separator = '\n'
  for await (const message of messages) {
    yield `${separator}    ${JSON.stringify(message)}`
    separator = ',\n'
  }
  yield '\n  ]\n}\n'
}

function speakerOf({ sender_role: role, metadata }: MessageRow): string {
  if (role === SENDER_ROLES.user) return 'You'
  if (role === SENDER_ROLES.tool) return `Tool: ${metadata?.tool_name ?? 'tool'}`
  return metadata?.model === undefined ? PRODUCT_NAME : `${PRODUCT_NAME} (${metadata.model})`
}

/** In a block quote, Markdown of the passage cannot change the surrounding list. */
const quoted = (text: string): string => text.trim().replaceAll(/^/gm, '   > ')

/** `fileOf` returns the path of a document in the archive; undefined if it is missing. */
function sourceAsMarkdown(source: Source, fileOf: (documentId: string) => string | undefined): string {
  const escaped = (text: string) => text.replaceAll(/[\\`*_[\]<>]/g, String.raw`\$&`)
  if (isWebSource(source)) {
    const { n, title, address, text } = source
    return `${n}. ${escaped(title)} <${address.replaceAll('<', '%3C').replaceAll('>', '%3E')}>\n\n${quoted(text)}`
  }
  if (isMessageSource(source)) {
    const { n, title, senderRole, createdAt, text } = source
    const speaker = senderRole === SENDER_ROLES.user ? 'You' : PRODUCT_NAME
    return `${n}. ${escaped(titleOf({ title }))}, ${speaker}, ${formatTime(createdAt)}\n\n${quoted(text)}`
  }
  const name = escaped(source.filename)
  const file = fileOf(source.documentId)
  const link = file === undefined ? name : `[${name}](<../${file}>)`
  return `${source.n}. ${link}, page ${source.page}\n\n${quoted(source.text)}`
}

/** Loads nothing where it is shown. */
export async function* conversationAsMarkdown(
  conversation: ConversationRow,
  messages: Messages,
  fileOf: (documentId: string) => string | undefined,
): AsyncIterable<string> {
  const inert = createInertMarkdown()
  for await (const part of partsOf(conversation, messages, fileOf)) yield inert(part)
}

/** Each ends with a line. */
async function* partsOf(
  conversation: ConversationRow,
  messages: Messages,
  fileOf: (documentId: string) => string | undefined,
): AsyncIterable<string> {
  yield `# ${titleOf(conversation).replaceAll(/\s+/g, ' ')}\n\n${formatTime(conversation.started_at)}, ${conversation.model_name}\n`
  for await (const message of messages) {
    yield `\n## ${speakerOf(message)}, ${formatTime(message.created_at)}\n\n${message.content.trim()}\n`
    const sources = message.metadata?.sources ?? []
    if (sources.length > 0) {
      yield `\nSources:\n\n${sources.map((source) => sourceAsMarkdown(source, fileOf)).join('\n\n')}\n`
    }
  }
}
