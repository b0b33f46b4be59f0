import type { JSX, ReactNode } from 'react'
import type { MessageRow } from '#contract/message.ts'
import type { ConsideredMessage, RetrievalTrace } from '#contract/trace.ts'
import { describeSourceLocation } from '#web/lib/documents/source-location.ts'
import { formatDateLabel } from '#web/lib/format/format-date.ts'
import { listTitle } from '#web/lib/messages/conversation-labels.ts'
import { describeTokenCounts } from '#web/lib/messages/describe-token-counts.ts'
import {
  describeAddedWords,
  describeCut,
  describeScores,
  describeSteps,
} from '#web/lib/messages/describe-trace-facts.ts'
import { classNames } from '#web/ui/class-names.ts'
import styles from './trace-facts.module.css'

export type TraceFactsProps = { metadata: MessageRow['metadata']; tokensIn: number | null; tokensOut: number | null }

function Row({ name, children }: { name: string; children: ReactNode }): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

function Passages({ trace }: { trace: RetrievalTrace }): JSX.Element {
  return (
    <ol className={styles.passages}>
      {trace.considered.map((passage, index) => (
        <li key={index} className={classNames(passage.cut !== null && styles.cut)}>
          <span className={styles.place}>{describeSourceLocation(passage, 'card')}</span>{' '}
          <span>{describeCut(passage.cut)}</span>
          <span className={styles.scores}>{describeScores(passage)}</span>
        </li>
      ))}
    </ol>
  )
}

function Messages({ messages }: { messages: readonly ConsideredMessage[] }): JSX.Element {
  return (
    <ol className={styles.passages}>
      {messages.map((message) => (
        <li key={message.messageId} className={classNames(message.cut !== null && styles.cut)}>
          <span className={styles.place}>
            {listTitle(message)}, {formatDateLabel(message.createdAt)}
          </span>{' '}
          <span>{describeCut(message.cut)}</span>
          <span className={styles.scores}>ranked by {Number(message.score.toPrecision(3))}</span>
        </li>
      ))}
    </ol>
  )
}

function Search({ trace }: { trace: RetrievalTrace }): JSX.Element {
  return (
    <>
      <Row name="Searched for">{trace.query}</Row>
      {trace.otherWords !== undefined && <Row name="Also searched for">{trace.otherWords.join(' · ')}</Row>}
      {trace.terms.length > 0 && (
        <Row name="Words">
          {trace.terms.map(({ term, passages }) => `${term} (${passages})`).join(', ')}
          {trace.guessed.map(({ word, terms }) => (
            <span key={word} className={styles.guess}>
              “{word}” was not found, so {terms.join(', ')} was looked for.
            </span>
          ))}
          {trace.added?.map(({ word, origin, words }) => (
            <span key={`${word} ${origin}`} className={styles.guess}>
              {describeAddedWords({ word, origin, words })}
            </span>
          ))}
        </Row>
      )}
      {trace.considered.length > 0 && (
        <Row name="Passages">
          <Passages trace={trace} />
        </Row>
      )}
      {trace.messages !== undefined && trace.messages.length > 0 && (
        <Row name="Messages">
          <Messages messages={trace.messages} />
        </Row>
      )}
      {trace.notes.length > 0 && <Row name="Notes">{trace.notes.join(' ')}</Row>}
    </>
  )
}

/** The search behind an answer, its tokens and its time. */
export default function TraceFacts({ metadata, tokensIn, tokensOut }: TraceFactsProps): JSX.Element {
  const { trace, steps } = metadata ?? {}
  const tokens = describeTokenCounts(tokensIn, tokensOut)
  return (
    <dl className={styles.facts}>
      {trace !== undefined && <Search trace={trace} />}
      {(tokens !== undefined || trace !== undefined) && (
        <Row name="Tokens">
          {[tokens, trace && `about ${trace.tokens} of those in are sources`].filter(Boolean).join(' · ')}
        </Row>
      )}
      {steps !== undefined && <Row name="Time">{describeSteps(steps)}</Row>}
    </dl>
  )
}
