import { useQuery } from '@tanstack/react-query'
import type { JSX, ReactNode } from 'react'
import {
  isMessageSource,
  isPassageSource,
  isWebSource,
  type MessageSource,
  type PassageSource,
  type WebSource,
} from '#contract/source.ts'
import { conversationQuery } from '#web/data/conversations.ts'
import { documentQuery } from '#web/data/documents/document-queries.ts'
import { useAnswer } from '#web/features/thread/context/answer-context.tsx'
import { describeSourceLocation } from '#web/lib/documents/source-location.ts'
import { UNKNOWN_ABSENCE } from '#web/lib/documents/unknown-absence.ts'
import { formatDateLabel } from '#web/lib/format/format-date.ts'
import { passageText } from '#web/lib/markdown/passage-text.ts'
import { describeSpeaker, listTitle } from '#web/lib/messages/conversation-labels.ts'
import { relevancePercent } from '#web/lib/messages/relevance.ts'
import { classNames } from '#web/ui/class-names.ts'
import { loadable } from '#web/ui/loadable.tsx'
import styles from './source-note.module.css'

const AbsentDocument = loadable(() => import('./absent-document.tsx'), {
  loading: () => UNKNOWN_ABSENCE,
  unloaded: UNKNOWN_ABSENCE,
})

type SourceWordsProps = { n: number; name: ReactNode; passage: string; meta: ReactNode }

function SourceWords({ n, name, passage, meta }: SourceWordsProps): JSX.Element {
  return (
    <>
      <span className={styles.number} aria-hidden>
        {n}
      </span>
      <span className={styles.name}>{name}</span>
      <span className={styles.passage} dir="auto">
        {passage}
      </span>
      {meta !== '' && <span className={styles.meta}>{meta}</span>}
    </>
  )
}

function SourceButton({ deleted, ...words }: SourceWordsProps & { deleted: boolean }): JSX.Element {
  const { pointAt, openNumber, open } = useAnswer()
  const { n } = words
  return (
    <button
      type="button"
      className={styles.open}
      disabled={deleted}
      aria-current={openNumber === n || undefined}
      data-source={n}
      onFocus={() => pointAt(n)}
      onBlur={() => pointAt(null)}
      onClick={(event) => open(n, event.currentTarget)}
    >
      <SourceWords {...words} />
    </button>
  )
}

function PageLink({ page }: { page: WebSource }): JSX.Element {
  const { pointAt } = useAnswer()
  return (
    <a
      className={styles.open}
      href={page.address}
      target="_blank"
      rel="noopener noreferrer"
      data-source={page.n}
      onFocus={() => pointAt(page.n)}
      onBlur={() => pointAt(null)}
    >
      <SourceWords
        n={page.n}
        name={`Source: ${page.title || new URL(page.address).host}`}
        passage={page.text}
        meta={page.address}
      />
    </a>
  )
}

function PassageButton({ source }: { source: PassageSource }): JSX.Element {
  const { sources, messageId } = useAnswer()
  const { data: current } = useQuery(documentQuery(source.documentId))
  const deleted = current === null
  const relevance = relevancePercent(source.score, [...sources.values()].filter(isPassageSource))
  const meta = [
    ...(relevance === null ? [] : [`${relevance}% relevance`]),
    ...(current?.superseded_at == null ? [] : [`in version ${current.version}; a newer one is searched now`]),
  ]
  return (
    <SourceButton
      n={source.n}
      deleted={deleted}
      name={`Source: ${describeSourceLocation(source, 'card', current)}`}
      passage={passageText(source.text)}
      meta={
        deleted && messageId !== undefined ? (
          <AbsentDocument document={source.documentId} message={messageId} />
        ) : (
          meta.join(', ')
        )
      }
    />
  )
}

function MessageButton({ source }: { source: MessageSource }): JSX.Element {
  const { data: conversation } = useQuery(conversationQuery(source.conversationId))
  const deleted = conversation === null
  return (
    <SourceButton
      n={source.n}
      deleted={deleted}
      name={`Conversation: ${listTitle(conversation ?? source)}`}
      passage={source.text}
      meta={
        deleted
          ? 'This conversation was deleted, or is not shared with you.'
          : `said by ${describeSpeaker(source)}, ${formatDateLabel(source.createdAt)}`
      }
    />
  )
}

export function SourceNote({ n, placement }: { n: number; placement: 'margin' | 'card' }): JSX.Element | null {
  const { sources, pointedAt, pointAt } = useAnswer()
  const source = sources.get(n)
  if (source === undefined) return null
  return (
    <aside
      className={classNames(styles.note, styles[placement], pointedAt === n && styles.pointed)}
      onMouseEnter={() => pointAt(n)}
      onMouseLeave={() => pointAt(null)}
    >
      {isPassageSource(source) && <PassageButton source={source} />}
      {isWebSource(source) && <PageLink page={source} />}
      {isMessageSource(source) && <MessageButton source={source} />}
    </aside>
  )
}
