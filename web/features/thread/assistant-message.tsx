import { useEffect, useMemo, useRef, useState, type JSX, type ReactNode } from 'react'
import type { ReplyError } from '#contract/message.ts'
import { isWebSource, type MessageSource, type PassageSource, type Source } from '#contract/source.ts'
import { citedNumbers, passagesBeside } from '#web/lib/citations.ts'
import { Button } from '#web/ui/button.tsx'
import { AnswerContext, type Answer } from './answer-context.tsx'
import { AnswerText } from './answer-text.tsx'
import { usePlaceInThread } from './place-in-thread.tsx'
import { messageElementId } from './show-target.ts'
import { SourceCards } from './source-cards.tsx'
import styles from './message.module.css'

/** How many cards stand under an answer at first: fewer where the answer itself points to none. */
const CITED_AT_FIRST = 4
const UNCITED_AT_FIRST = 2

/** What a person wants to see: a passage, among those of the same answer, or a message of a conversation. */
export type OpenSource = (choice: {
  messageId: string
  sources: PassageSource[]
  source: PassageSource | MessageSource
  marker: HTMLElement
}) => void

export type AssistantMessageProps = {
  /** The id of the stored row, or the one that it will have. */
  messageId: string
  text: string
  sources: readonly Source[]
  misquotes: readonly string[]
  error: ReplyError | null
  stopped: boolean
  /** Still being written. */
  writing: boolean
  first: boolean
  marginNotes: boolean
  onOpenSource: OpenSource
  onRetry: (() => void) | null
  /** Documents were searched, and the answer cites nothing. */
  unsupported: boolean
  /** The documents were too long: only so many of their pages were read. */
  pages: { read: number; of: number } | null
  /** Before the text. */
  lead: ReactNode
  /** After the text and its sources. */
  footer: ReactNode
}

/** The sources as they were as long as they say the same: the stored answer comes with copies of what was streamed. */
function useKept(given: readonly Source[]): readonly Source[] {
  const [kept, keep] = useState(given)
  if (given === kept || JSON.stringify(given) === JSON.stringify(kept)) return kept
  keep(given)
  return given
}

/** An answer: plain text on the page, its sources beside or below it. */
export function AssistantMessage(props: AssistantMessageProps): JSX.Element {
  const { messageId, text, misquotes, writing, onOpenSource } = props
  const sources = useKept(props.sources)
  const place = usePlaceInThread()
  const [pointedAt, pointAt] = useState<number | null>(null)
  const numbers = useMemo(() => new Set(sources.map((source) => source.n)), [sources])
  // Read when it is asked for: a new value at each step of the writing would draw every block again.
  const written = useRef(text)
  useEffect(() => {
    written.current = text
  }, [text])
  const answer = useMemo((): Answer => {
    const byNumber = new Map(sources.map((source) => [source.n, source]))
    return {
      sources: byNumber,
      numbers,
      misquotes,
      pointedAt,
      pointAt,
      open: (n, marker) => {
        const source = byNumber.get(n)
        if (source === undefined || isWebSource(source)) return
        onOpenSource({ messageId, source, marker, sources: passagesBeside(source, sources, written.current) })
      },
    }
  }, [sources, numbers, misquotes, pointedAt, messageId, onOpenSource])
  const cited = useMemo(() => (writing ? [] : citedNumbers(text, numbers)), [writing, text, numbers])
  const cards = cited.length === 0 ? sources.map((source) => source.n) : props.marginNotes ? [] : cited
  return (
    <AnswerContext value={answer}>
      <article id={messageElementId(messageId)} className={styles.answer} aria-label="Answer" {...place}>
        {props.first && <p className={styles.badge}>Using your knowledge</p>}
        {props.lead}
        <AnswerText text={text} writing={writing} marginNotes={props.marginNotes} />
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
        {props.pages && (
          <p className={styles.aside}>
            Only the first {props.pages.read} of {props.pages.of} pages were read for this answer.
          </p>
        )}
        {props.unsupported && (
          <p className={styles.aside}>
            Nothing in your documents supports this answer
            {sources.length === 0 ? '.' : ': it cites none of the passages that were found.'}
          </p>
        )}
        {!writing && <SourceCards numbers={cards} atFirst={cited.length === 0 ? UNCITED_AT_FIRST : CITED_AT_FIRST} />}
        {props.footer}
      </article>
    </AnswerContext>
  )
}
