import { useQuery } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import type { MessageRow } from '#contract/message.ts'
import { earlierVersionsQuery } from '#web/data/answers.ts'
import { modelsQuery, useModelLabel } from '#web/data/models.ts'
import { keyProviderOf } from '#web/data/provider-key-form.ts'
import { MessageActions } from '#web/features/thread/actions/message-actions.tsx'
import { RegenerateMenu } from '#web/features/thread/actions/regenerate-menu.tsx'
import { useThreadActions } from '#web/features/thread/actions/thread-actions.tsx'
import { VersionSteps } from '#web/features/thread/actions/version-steps.tsx'
import { ReplyTrace } from '#web/features/thread/trace/reply-trace.tsx'
import { Button } from '#web/ui/button.tsx'
import { ANSWER_NOTES } from '#web/lib/messages/answer-notes.ts'
import { AssistantMessage, type AssistantMessageProps } from './assistant-message.tsx'
import styles from './message.module.css'
import { SummaryLine } from './summary-line.tsx'

type AnswerMessageProps = Omit<
  AssistantMessageProps,
  'onAddKey' | 'onAgain' | 'lead' | 'footer' | 'misquotes' | 'unverified' | 'unsupported' | 'unread' | 'pages'
> & {
  metadata: MessageRow['metadata']
  tokensIn: number | null
  tokensOut: number | null
  showTrace: boolean
}

const NONE: [] = []

/** Error codes that another provider key may resolve. */
const WANT_KEY = new Set(['not_configured', 'provider_refused_key'])

/** Shows the newest version when one arrives and when a question is sent: the conversation continues from it. */
function useVersion(messageId: string, newest: number, awaiting: boolean) {
  const [leaf, setLeaf] = useState({ newest, version: newest })
  const [wasAwaiting, setWasAwaiting] = useState(awaiting)
  if (awaiting !== wasAwaiting) {
    setWasAwaiting(awaiting)
    if (awaiting) setLeaf({ newest, version: newest })
  }
  const version = leaf.newest === newest ? leaf.version : newest
  const { data } = useQuery({ ...earlierVersionsQuery(messageId, newest), enabled: version < newest })
  return {
    version,
    earlier: version < newest ? data?.find((known) => known.version === version) : undefined,
    step: (to: number) => setLeaf({ newest, version: to }),
  }
}

function VersionModel({ identifier }: { identifier: string | undefined }): JSX.Element {
  const modelLabel = useModelLabel()
  return <span className={styles.versionModel}>{modelLabel(identifier)}</span>
}

function Reasoning({ text }: { text: string }): JSX.Element {
  return (
    <details className={styles.tool}>
      <summary>Reasoning</summary>
      <p className={styles.toolContent} dir="auto">
        {text}
      </p>
    </details>
  )
}

export function AnswerMessage(props: AnswerMessageProps): JSX.Element {
  const { metadata, tokensIn, tokensOut, showTrace, ...shown } = props
  const { messageId, writing, error } = shown
  const newest = metadata?.version ?? 1
  const actions = useThreadActions()
  const { version, earlier, step } = useVersion(messageId, newest, actions === null)
  const known = earlier?.metadata ?? metadata
  const view = earlier
    ? {
        ...shown,
        text: earlier.content,
        sources: earlier.metadata.sources ?? NONE,
        error: null,
        stopped: earlier.metadata.stopped === true,
        onRetry: null,
      }
    : shown
  const reasoning = known?.reasoning ?? ''
  const isUnfinished = (view.stopped || known?.cut === true || view.error !== null) && view.text !== ''
  const rewriteError = earlier ? undefined : metadata?.rewrite_error

  const wantsKey = WANT_KEY.has(view.error?.code ?? '')
  const { data: models } = useQuery({ ...modelsQuery, enabled: wantsKey })
  const model = models?.find(({ model_identifier: identifier }) => identifier === known?.model)
  const key = wantsKey && actions !== null ? keyProviderOf(model?.provider) : null

  const footer = (
    <>
      {showTrace && (
        <ReplyTrace
          metadata={known}
          tokensIn={earlier ? earlier.token_in : tokensIn}
          tokensOut={earlier ? earlier.token_out : tokensOut}
        />
      )}
      {known?.cut === true && <p className={styles.aside}>{ANSWER_NOTES.cut}</p>}
      {known?.filtered === true && (
        <p className={styles.aside}>The content filter of the model server ended this answer.</p>
      )}
      {rewriteError !== undefined && (
        <p className={styles.aside} role="alert">
          Nothing new was written. {rewriteError.message}
        </p>
      )}
      {isUnfinished && !earlier && actions !== null && (
        <Button variant="outline" size="sm" className={styles.goOn} onClick={() => actions.continueAnswer(messageId)}>
          Continue
        </Button>
      )}
      {earlier && (
        <p className={styles.aside}>This is an earlier version. The conversation goes on from the newest one.</p>
      )}
      {(view.error === null || newest > 1) && (
        <MessageActions messageId={messageId} version={version} text={view.text} sources={view.sources}>
          {actions !== null && <RegenerateMenu messageId={messageId} actions={actions} />}
          {newest > 1 && <VersionSteps version={version} newest={newest} onStep={step} />}
          {newest > 1 && <VersionModel identifier={known?.model} />}
        </MessageActions>
      )}
      {error !== null && newest === 1 && actions !== null && (
        <div className={styles.actions}>
          <RegenerateMenu messageId={messageId} actions={actions} />
        </div>
      )}
    </>
  )
  return (
    <AssistantMessage
      {...view}
      unverified={writing ? NONE : (known?.unverified ?? NONE)}
      misquotes={writing ? NONE : (known?.misquotes ?? NONE)}
      unsupported={!writing && known?.unsupported === true}
      onAddKey={key === null ? null : () => actions?.addKey(key)}
      onAgain={actions === null || earlier ? null : () => actions.regenerate(messageId, null)}
      unread={(writing ? undefined : known?.unread) ?? 0}
      pages={(writing ? undefined : known?.trace?.pages) ?? null}
      lead={
        <>
          {known?.summary !== undefined && <SummaryLine summaryId={known.summary} />}
          {reasoning !== '' && <Reasoning text={reasoning} />}
        </>
      }
      footer={writing ? null : footer}
    />
  )
}
