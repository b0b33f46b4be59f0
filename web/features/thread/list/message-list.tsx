import { useState, type JSX } from 'react'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { KnownAddressesContext } from '#web/features/thread/context/known-addresses-context.tsx'
import type { OpenSource } from '#web/features/thread/message/assistant-message.tsx'
import styles from '#web/features/thread/message/message.module.css'
import { isFailure } from '#web/features/thread/message/stored-message.tsx'
import { Thinking } from '#web/features/thread/message/thinking.tsx'
import { groupMessages, type MessageGroup as Group } from '#web/lib/messages/group-messages.ts'
import { addressesOfThread, NO_ADDRESSES } from '#web/lib/messages/known-addresses.ts'
import { messageKey, type ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import type { ReplyView } from '#web/lib/messages/reply-parts.ts'
import { loadable } from '#web/ui/loadable.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import { MessageGroup } from './message-group.tsx'
import { useAnnouncement } from './use-announcement.ts'

const ToolConsent = loadable(() => import('#web/features/thread/actions/tool-consent.tsx'), {
  unloaded: (
    <p role="alert">
      A tool asks for your permission, but the question could not be loaded. Reload the page to answer it.
    </p>
  ),
})

export type MessageListProps = {
  messages: readonly ThreadMessage[]
  /** The streamed reply; replaced by the stored row of the same id. */
  reply: ReplyView | null
  waiting: boolean
  showToolMessages: boolean
  marginNotes: boolean
  /** Whether the first message here is the conversation's first. */
  fromStart: boolean
  onOpenSource: OpenSource
  onRetry: () => void
}

const isAnswer = (message: ThreadMessage): boolean =>
  message.sender_role === SENDER_ROLES.assistant && !isFailure(message)

function retryable(messages: readonly ThreadMessage[], waiting: boolean): string | null {
  const last = messages.at(-1)
  return !waiting && last?.metadata?.error?.retryable === true ? last.id : null
}

function positionsOf(groups: readonly Group[]): number[] {
  const positions: number[] = []
  let position = 1
  for (const { messages } of groups) {
    positions.push(position)
    position += messages.length
  }
  return positions
}

export function MessageList(props: MessageListProps): JSX.Element {
  const { messages, reply, waiting, fromStart } = props
  const [known, setKnown] = useState<readonly Group[]>([])
  const groups = groupMessages(known, messages)
  if (groups !== known) setKnown(groups)
  const [lastAddresses, setAddresses] = useState(NO_ADDRESSES)
  const addresses = addressesOfThread(messages, lastAddresses)
  if (addresses !== lastAddresses) setAddresses(addresses)
  const streamed = reply !== null && !messages.some((message) => messageKey(message) === reply.messageId) ? reply : null
  const announcement = useAnnouncement(messages, waiting)
  const firstAnswerId = fromStart ? (messages.find(isAnswer)?.id ?? streamed?.messageId ?? null) : null
  const retryableId = retryable(messages, waiting)
  const shown = groups.length === 0 && streamed !== null ? [{ key: 'streamed', messages: [] }] : groups
  const rewritten = messages.findLast((message) => message.writing === true)
  const isSilent = rewritten === undefined ? (streamed?.text ?? '') === '' : rewritten.content === ''
  const openTool = streamed?.tools.find((tool) => tool.status === 'running')?.name
  const request = reply?.tools.find((tool) => tool.status === 'asking')?.request
  const positions = positionsOf(shown)
  return (
    <div className={styles.thread}>
      <KnownAddressesContext value={addresses}>
        <div {...(shown.length > 0 ? { role: 'feed', 'aria-label': 'Messages', 'aria-busy': waiting } : {})}>
          {shown.map((group, index) => {
            const isLast = index === shown.length - 1
            return (
              <MessageGroup
                key={group.key}
                messages={group.messages}
                streamed={isLast ? streamed : null}
                firstAnswerId={firstAnswerId}
                retryableId={isLast ? retryableId : null}
                showToolMessages={props.showToolMessages}
                marginNotes={props.marginNotes}
                position={fromStart ? (positions[index] ?? null) : null}
                total={fromStart ? messages.length : null}
                last={isLast}
                onOpenSource={props.onOpenSource}
                onRetry={props.onRetry}
              />
            )
          })}
        </div>
      </KnownAddressesContext>
      {waiting && request !== undefined && <ToolConsent key={request.id} request={request} />}
      {waiting && isSilent && request === undefined && <Thinking tool={openTool} />}
      <p className={hidden.hidden} aria-live="polite">
        {waiting && request !== undefined
          ? `The tool ${request.tool} of ${request.server} asks for your permission.`
          : announcement}
      </p>
    </div>
  )
}
