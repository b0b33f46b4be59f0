import { useId, useMemo, useState, type JSX } from 'react'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isPassageSource, isWebSource, type Source } from '#contract/source.ts'
import type { SharedConversation } from '#contract/space.ts'
import { AnswerContext, type Answer } from '#web/features/thread/context/answer-context.tsx'
import { AnswerText } from '#web/features/thread/message/answer-text.tsx'
import { describeSourceLocation } from '#web/lib/documents/source-location.ts'
import { formatDateLabel, formatTime } from '#web/lib/format/format-date.ts'
import { passageText } from '#web/lib/markdown/passage-text.ts'
import { citedNumbers } from '#web/lib/messages/citations.ts'
import { listTitle } from '#web/lib/messages/conversation-labels.ts'
import { withSources, type KnownAddresses } from '#web/lib/messages/known-addresses.ts'
import { classNames } from '#web/ui/class-names.ts'
import styles from './shared-link-page.module.css'

type Linked = SharedConversation['messages'][number]

type LinkedMessageProps = { message: Linked; addresses: KnownAddresses }

const NO_SOURCES: readonly Source[] = []

export function LinkedMessage({ message, addresses }: LinkedMessageProps): JSX.Element {
  if (message.sender_role === SENDER_ROLES.user)
    return (
      <article className={styles.question} aria-label="Question">
        <p className={styles.words} dir="auto">
          {message.content}
        </p>
        <time className={styles.when} dateTime={message.created_at}>
          {formatDateLabel(message.created_at)}, {formatTime(message.created_at)}
        </time>
      </article>
    )
  return <LinkedAnswer message={message} addresses={addresses} />
}

function LinkedAnswer({ message, addresses }: LinkedMessageProps): JSX.Element {
  const { content } = message
  const sources = message.sources ?? NO_SOURCES
  const [pointedAt, pointAt] = useState<number | null>(null)
  const id = useId()
  const answer = useMemo(
    (): Answer => ({
      sources: new Map(sources.map((source) => [source.n, source])),
      numbers: new Set(sources.map(({ n }) => n)),
      addresses: withSources(addresses, sources),
      misquotes: [],
      unverified: [],
      pointedAt,
      pointAt,
      openNumber: null,
      open: (n) => document.getElementById(`${id}-${n}`)?.focus(),
    }),
    [sources, addresses, pointedAt, id],
  )
  const cited = citedNumbers(content, answer.numbers)
  return (
    <article className={styles.answer} aria-label="Answer">
      <AnswerContext value={answer}>
        <AnswerText text={content} writing={false} marginNotes={false} />
      </AnswerContext>
      {cited.length > 0 && (
        <ol className={styles.sources} aria-label="Sources">
          {cited.map((n) => {
            const source = answer.sources.get(n)
            return (
              source && (
                <li
                  key={n}
                  id={`${id}-${n}`}
                  tabIndex={-1}
                  value={n}
                  className={classNames(styles.source, pointedAt === n && styles.pointed)}
                >
                  <p className={styles.name}>{nameOf(source)}</p>
                  <p className={styles.passage} dir="auto">
                    {passageText(source.text)}
                  </p>
                </li>
              )
            )
          })}
        </ol>
      )}
    </article>
  )
}

function nameOf(source: Source): string {
  if (isWebSource(source)) return source.title || new URL(source.address).host
  return isPassageSource(source)
    ? describeSourceLocation(source, 'card')
    : `${listTitle(source)}, ${formatDateLabel(source.createdAt)}`
}
