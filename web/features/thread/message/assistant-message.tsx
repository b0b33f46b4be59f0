import { use, useContext, useEffect, useMemo, useRef, useState, type JSX, type ReactNode } from 'react'
import type { ReplyError, UnverifiedClaim } from '#contract/message.ts'
import { isPassageSource, isWebSource, type MessageSource, type PassageSource, type Source } from '#contract/source.ts'
import { AnswerContext, OpenSourceContext, type Answer } from '#web/features/thread/context/answer-context.tsx'
import { KnownAddressesContext } from '#web/features/thread/context/known-addresses-context.tsx'
import { SourceCards } from '#web/features/thread/sources/source-cards.tsx'
import { UnreadNote } from '#web/features/thread/sources/unread-note.tsx'
import { ANSWER_NOTES } from '#web/lib/messages/answer-notes.ts'
import { citedNumbers, citedParts, citedPassages } from '#web/lib/messages/citations.ts'
import { withSources } from '#web/lib/messages/known-addresses.ts'
import { Button } from '#web/ui/button.tsx'
import { AnswerText } from './answer-text.tsx'
import styles from './message.module.css'
import { messageElementId } from './show-target.ts'
import { useThreadPosition } from './thread-position.tsx'

/** A source to open: a passage, among those of its answer, or a message of a conversation. */
export type OpenSource = (choice: {
  messageId: string
  sources: PassageSource[]
  source: PassageSource | MessageSource
  marker: HTMLElement
}) => void

export type AssistantMessageProps = {
  /** The id of the stored row, now or later. */
  messageId: string
  text: string
  sources: readonly Source[]
  misquotes: readonly string[]
  unverified: readonly UnverifiedClaim[]
  error: ReplyError | null
  stopped: boolean
  writing: boolean
  first: boolean
  marginNotes: boolean
  onOpenSource: OpenSource
  onRetry: (() => void) | null
  /** Set where another provider key may help. */
  onAddKey: (() => void) | null
  unsupported: boolean
  unread: number
  onAgain: (() => void) | null
  /** Set where long documents were truncated: pages read, of all pages. */
  pages: { read: number; of: number } | null
  lead: ReactNode
  footer: ReactNode
}

/** Keeps the identity of sources while their content is equal: the stored answer brings copies of the streamed ones. */
function useStableSources(given: readonly Source[]): readonly Source[] {
  const [stable, setStable] = useState(given)
  if (given === stable || JSON.stringify(given) === JSON.stringify(stable)) return stable
  setStable(given)
  return given
}

/** The part of a passage that the pressed marker cites; the whole passage for a card. */
function partOf(source: PassageSource, marker: HTMLElement): PassageSource {
  const markers = marker.closest('article')?.querySelectorAll(`[data-citation="${source.n}"]`) ?? []
  return citedParts(source)[[...markers].indexOf(marker) + 1] ?? source
}

export function AssistantMessage(props: AssistantMessageProps): JSX.Element {
  const { messageId, text, misquotes, unverified, writing, onOpenSource } = props
  const sources = useStableSources(props.sources)
  const position = useThreadPosition()
  const open = useContext(OpenSourceContext)
  const openNumber = open?.messageId === messageId ? open.n : null
  const [pointedAt, pointAt] = useState<number | null>(null)
  const known = use(KnownAddressesContext)
  const addresses = useMemo(() => withSources(known, sources), [known, sources])
  const numbers = useMemo(() => new Set(sources.map((source) => source.n)), [sources])
  // A ref, because a changing context value would render every block again at each step of the stream.
  const written = useRef(text)
  useEffect(() => {
    written.current = text
  }, [text])
  const answer = useMemo((): Answer => {
    const byNumber = new Map(sources.map((source) => [source.n, source]))
    return {
      messageId,
      sources: byNumber,
      numbers,
      addresses,
      misquotes,
      unverified,
      pointedAt,
      pointAt,
      openNumber,
      open: (n, marker) => {
        const source = byNumber.get(n)
        if (source === undefined || isWebSource(source)) return
        const part = isPassageSource(source) ? partOf(source, marker) : source
        onOpenSource({ messageId, source: part, marker, sources: citedPassages(part, sources, written.current) })
      },
    }
  }, [sources, numbers, addresses, misquotes, unverified, pointedAt, openNumber, messageId, onOpenSource])
  const cited = useMemo(() => (writing ? [] : citedNumbers(text, numbers)), [writing, text, numbers])
  const cards = cited.length === 0 ? sources.map((source) => source.n) : props.marginNotes ? [] : cited
  const areMeant = cited.length > 0 || sources.some(isWebSource)
  const hasCards = !writing && areMeant && cards.length > 0
  return (
    <AnswerContext value={answer}>
      <article id={messageElementId(messageId)} className={styles.answer} aria-label="Answer" {...position}>
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
            {props.onAddKey !== null && (
              <Button variant="outline" size="sm" onClick={props.onAddKey}>
                Add a key
              </Button>
            )}
          </div>
        )}
        {props.stopped && <p className={styles.aside}>{ANSWER_NOTES.stopped}</p>}
        {props.pages && (
          <p className={styles.aside}>
            Only the first {props.pages.read} of {props.pages.of} pages were read for this answer.
          </p>
        )}
        {props.unread > 0 && <UnreadNote count={props.unread} onAgain={props.onAgain} />}
        {props.unsupported && (
          <p className={styles.aside}>
            Nothing in your documents supports this answer
            {sources.length === 0 ? '.' : ': it cites none of the passages that were found.'}
          </p>
        )}
        {hasCards && <div data-text-end />}
        {!writing && <SourceCards numbers={cards} areMeant={areMeant} />}
        {props.footer}
        {!hasCards && <div data-text-end />}
      </article>
    </AnswerContext>
  )
}
