import type { JSX } from 'react'
import { isMessageSource, isWebSource, type Source } from '#contract/source.ts'
import { useAnswer } from '#web/features/thread/context/answer-context.tsx'
import { describeSourceLocation } from '#web/lib/documents/source-location.ts'
import { formatDateLabel } from '#web/lib/format/format-date.ts'
import { splitCitations } from '#web/lib/messages/citations.ts'
import { listTitle } from '#web/lib/messages/conversation-labels.ts'
import { splitMisquotes } from '#web/lib/messages/misquotes.ts'
import { splitRanges, type TextRange } from '#web/lib/messages/unverified.ts'
import { classNames } from '#web/ui/class-names.ts'
import styles from './citation.module.css'
import { Misquote } from './misquote.tsx'
import { UnverifiedClaim } from './unverified-claim.tsx'

function labelOf(source: Source): string {
  if (isWebSource(source)) return source.title || source.address
  if (isMessageSource(source)) return `${listTitle(source)}, ${formatDateLabel(source.createdAt)}`
  return describeSourceLocation(source, 'spoken')
}

function Citation({ n }: { n: number }): JSX.Element {
  const { sources, pointedAt, pointAt, openNumber, open } = useAnswer()
  const source = sources.get(n)
  const chip = {
    className: classNames(styles.chip, pointedAt === n && styles.pointed),
    'data-citation': n,
    onMouseEnter: () => pointAt(n),
    onMouseLeave: () => pointAt(null),
    onFocus: () => pointAt(n),
    onBlur: () => pointAt(null),
  }
  if (source !== undefined && isWebSource(source)) {
    return (
      <sup className={styles.marker}>
        <a
          {...chip}
          href={source.address}
          target="_blank"
          rel="noopener noreferrer"
          aria-label={`Source ${n}: ${labelOf(source)}`}
        >
          {n}
        </a>
      </sup>
    )
  }
  return (
    <sup className={styles.marker}>
      <button
        type="button"
        {...chip}
        aria-current={openNumber === n || undefined}
        aria-label={source === undefined ? `Source ${n}` : `Source ${n}: ${labelOf(source)}`}
        onClick={(event) => open(n, event.currentTarget)}
      >
        {n}
      </button>
    </sup>
  )
}

function MarkedText({ text }: { text: string }): JSX.Element {
  const { numbers } = useAnswer()
  return (
    <>
      {splitCitations(text, numbers).map((piece, index) =>
        typeof piece === 'number' ? <Citation key={index} n={piece} /> : piece,
      )}
    </>
  )
}

export const mayCite = (text: string): boolean => /[["“”„«»「『]/.test(text)

function withStarts<Piece extends { text: string }>(pieces: readonly Piece[]): (Piece & { start: number })[] {
  let end = 0
  return pieces.map((piece) => ({ ...piece, start: (end += piece.text.length) - piece.text.length }))
}

const NO_DOUBTS: readonly TextRange[] = []

/** @param doubts claims to mark; those inside a misquotation are marked with it */
export function CitedText({ text, doubts = NO_DOUBTS }: { text: string; doubts?: readonly TextRange[] }): JSX.Element {
  const { misquotes } = useAnswer()
  return (
    <>
      {withStarts(splitMisquotes(text, misquotes)).map(({ start, ...piece }, index) => {
        if (piece.isMisquote)
          return (
            <Misquote key={index}>
              <MarkedText text={piece.text} />
            </Misquote>
          )
        const own = doubts.map(({ from, to }) => ({ from: from - start, to: to - start }))
        return <DoubtfulText key={index} text={piece.text} doubts={own} />
      })}
    </>
  )
}

function DoubtfulText({ text, doubts }: { text: string; doubts: readonly TextRange[] }): JSX.Element {
  return (
    <>
      {splitRanges(text, doubts).map((piece, index) =>
        piece.isMarked ? (
          <UnverifiedClaim key={index}>
            <MarkedText text={piece.text} />
          </UnverifiedClaim>
        ) : (
          <MarkedText key={index} text={piece.text} />
        ),
      )}
    </>
  )
}
