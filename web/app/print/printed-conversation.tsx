import type { QueryClient } from '@tanstack/react-query'
import { useMemo, type JSX } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import type { DocumentRow } from '#contract/document.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isPassageSource, isWebSource, type Source } from '#contract/source.ts'
import { conversationKey } from '#web/data/conversations.ts'
import { documentKey } from '#web/data/documents/document-queries.ts'
import { messagesKey } from '#web/data/messages.ts'
import { cachedModelLabel } from '#web/data/models.ts'
import { useThreadStore } from '#web/data/thread-store.ts'
import { AnswerContext, type Answer } from '#web/features/thread/context/answer-context.tsx'
import { AnswerText } from '#web/features/thread/message/answer-text.tsx'
import { describeSourceLocation } from '#web/lib/documents/source-location.ts'
import { formatMoment } from '#web/lib/format/format-moment.ts'
import { passageText } from '#web/lib/markdown/passage-text.ts'
import { answerAsides } from '#web/lib/messages/answer-asides.ts'
import { citedNumbers } from '#web/lib/messages/citations.ts'
import { activeTitle, describeSpeaker, listTitle } from '#web/lib/messages/conversation-labels.ts'
import { hideRepeatedSummaries } from '#web/lib/messages/hide-repeated-summaries.ts'
import { addressesOfThread, NO_ADDRESSES, withSources, type KnownAddresses } from '#web/lib/messages/known-addresses.ts'
import type { Thread, ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { overlayReply, replyAsMessage } from '#web/lib/messages/overlay-reply.ts'
import styles from './print.module.css'

const NO_SOURCES: readonly Source[] = []

/** Everything that is loaded of a conversation. */
export function PrintedConversation({ queryClient, id }: { queryClient: QueryClient; id: string }): JSX.Element {
  const conversation = queryClient.getQueryData<ConversationRow | null>(conversationKey(id))
  const thread = queryClient.getQueryData<Thread>(messagesKey(id))
  const reply = useThreadStore(({ replies }) => replies[id]) ?? null
  const overlaid = overlayReply(hideRepeatedSummaries(thread?.messages ?? []), reply)
  const messages = overlaid.reply === null ? overlaid.messages : [...overlaid.messages, replyAsMessage(overlaid.reply)]
  const addresses = addressesOfThread(messages, NO_ADDRESSES)
  const facts = conversation
    ? [cachedModelLabel(queryClient, conversation.model_name), `begun ${formatMoment(conversation.started_at)}`]
    : []
  return (
    <>
      <header className={styles.head}>
        <h1 dir="auto">{activeTitle(conversation)}</h1>
        <p className={styles.meta}>{[...facts, `printed ${formatMoment(new Date().toISOString())}`].join(' · ')}</p>
      </header>
      {thread?.hasEarlier === true && (
        <p className={styles.missing}>Earlier messages are missing here. Print in the page includes them.</p>
      )}
      {messages.map((message) => (
        <PrintedMessage key={message.id} message={message} addresses={addresses} queryClient={queryClient} />
      ))}
    </>
  )
}

interface PrintedMessageProps {
  message: ThreadMessage
  addresses: KnownAddresses
  queryClient: QueryClient
}

function PrintedMessage({ message, addresses, queryClient }: PrintedMessageProps): JSX.Element | null {
  const { content, metadata, created_at: createdAt } = message
  if (message.sender_role === SENDER_ROLES.tool)
    return metadata?.tool_name === undefined ? null : <p className={styles.aside}>Used {metadata.tool_name}</p>
  if (message.sender_role === SENDER_ROLES.user)
    return (
      <section className={styles.question}>
        <p className={styles.speaker}>{formatMoment(createdAt)}</p>
        <p className={styles.words} dir="auto">
          {content}
        </p>
      </section>
    )
  return (
    <section className={styles.answer}>
      <PrintedAnswer message={message} addresses={addresses} queryClient={queryClient} />
      {answerAsides(metadata).map((sentence) => (
        <p key={sentence} className={styles.aside}>
          {sentence}
        </p>
      ))}
    </section>
  )
}

function PrintedAnswer({ message, addresses, queryClient }: PrintedMessageProps): JSX.Element {
  const { content, metadata } = message
  const sources = metadata?.sources ?? NO_SOURCES
  const answer = useMemo(
    (): Answer => ({
      sources: new Map(sources.map((source) => [source.n, source])),
      numbers: new Set(sources.map(({ n }) => n)),
      addresses: withSources(addresses, sources),
      misquotes: metadata?.misquotes ?? [],
      unverified: metadata?.unverified ?? [],
      pointedAt: null,
      pointAt: () => undefined,
      openNumber: null,
      open: () => undefined,
    }),
    [sources, addresses, metadata],
  )
  const cited = citedNumbers(content, answer.numbers)
  const listed = cited.length > 0 ? cited : sources.some(isWebSource) ? sources.map(({ n }) => n) : []
  return (
    <AnswerContext value={answer}>
      <AnswerText text={content} writing={false} marginNotes={false} />
      {listed.length > 0 && (
        <div className={styles.sources}>
          <h2>Sources</h2>
          <ol>
            {listed.map((n) => {
              const source = answer.sources.get(n)
              return source && <PrintedSource key={n} source={source} queryClient={queryClient} />
            })}
          </ol>
        </div>
      )}
    </AnswerContext>
  )
}

function PrintedSource({ source, queryClient }: { source: Source; queryClient: QueryClient }): JSX.Element {
  const describe = (): string => {
    if (isWebSource(source)) return source.title || new URL(source.address).host
    if (!isPassageSource(source))
      return `${listTitle(source)}, said by ${describeSpeaker(source)}, ${formatMoment(source.createdAt)}`
    return describeSourceLocation(source, 'card', queryClient.getQueryData<DocumentRow>(documentKey(source.documentId)))
  }
  return (
    <li value={source.n}>
      <p className={styles.name}>{describe()}</p>
      {isWebSource(source) && <p className={styles.address}>{source.address}</p>}
      <p className={styles.passage} dir="auto">
        {passageText(source.text)}
      </p>
    </li>
  )
}
