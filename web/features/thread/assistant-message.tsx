import { useMemo, useState, type JSX } from 'react'
import type { ReplyError } from '#contract/message.ts'
import type { Source } from '#contract/source.ts'
import { citedNumbers } from '#web/lib/citations.ts'
import { Button } from '#web/ui/button.tsx'
import { AnswerContext, type Answer } from './answer-context.tsx'
import { AnswerText } from './answer-text.tsx'
import { MessageActions } from './message-actions.tsx'
import { SourceCards } from './source-cards.tsx'
import styles from './message.module.css'

/** How many cards stand under an answer at first: fewer where the answer itself points to none. */
const CITED_AT_FIRST = 4
const UNCITED_AT_FIRST = 2

/** A source that a person wants to see, among those of the same answer. */
export type OpenSource = (choice: { messageId: string; sources: Source[]; source: Source; marker: HTMLElement }) => void

export type AssistantMessageProps = {
  /** The id of the stored row, or the one that it will have. */
  messageId: string
  text: string
  sources: readonly Source[]
  error: ReplyError | null
  stopped: boolean
  /** Still being written: no actions yet. */
  writing: boolean
  first: boolean
  marginNotes: boolean
  onOpenSource: OpenSource
  onRetry: (() => void) | null
}

/** An answer: plain text on the page, its sources beside or below it. */
export function AssistantMessage(props: AssistantMessageProps): JSX.Element {
  const { messageId, text, sources, onOpenSource } = props
  const [pointedAt, pointAt] = useState<number | null>(null)
  const numbers = useMemo(() => new Set(sources.map((source) => source.n)), [sources])
  const cited = useMemo(() => citedNumbers(text, numbers), [text, numbers])
  const answer = useMemo((): Answer => {
    const byNumber = new Map(sources.map((source) => [source.n, source]))
    return {
      sources: byNumber,
      numbers,
      pointedAt,
      pointAt,
      open: (n, marker) => {
        const source = byNumber.get(n)
        const citedSources = cited.flatMap((number) => byNumber.get(number) ?? [])
        if (source === undefined) return
        onOpenSource({
          messageId,
          source,
          marker,
          sources: citedSources.includes(source) ? citedSources : [...sources],
        })
      },
    }
  }, [sources, numbers, pointedAt, cited, messageId, onOpenSource])
  const cards = cited.length === 0 ? sources.map((source) => source.n) : props.marginNotes ? [] : cited
  return (
    <AnswerContext value={answer}>
      <article className={styles.answer} aria-label="Answer">
        {props.first && <p className={styles.badge}>Using your knowledge</p>}
        <AnswerText text={text} writing={props.writing} marginNotes={props.marginNotes} />
        {props.error !== null && (
          <div className={styles.failure} role="alert">
            <p>{props.error.message}</p>
            {props.onRetry !== null && (
              <Button variant="outline" size="sm" onClick={props.onRetry}>
                Retry
              </Button>
            )}
          </div>
        )}
        {props.stopped && <p className={styles.aside}>You stopped this answer.</p>}
        {!props.writing && (
          <SourceCards numbers={cards} atFirst={cited.length === 0 ? UNCITED_AT_FIRST : CITED_AT_FIRST} />
        )}
        {!props.writing && props.error === null && <MessageActions messageId={messageId} text={text} />}
      </article>
    </AnswerContext>
  )
}
