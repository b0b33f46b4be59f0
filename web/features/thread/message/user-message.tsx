import { Pencil } from 'lucide-react'
import { useContext, useRef, useState, type JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { useAuthorName } from '#web/data/spaces/author-names.ts'
import { useThreadActions } from '#web/features/thread/actions/thread-actions.tsx'
import { SharedByContext } from '#web/features/thread/context/shared-by-context.ts'
import { formatTime } from '#web/lib/format/format-date.ts'
import { formatMoment } from '#web/lib/format/format-moment.ts'
import { Button } from '#web/ui/button.tsx'
import { classNames } from '#web/ui/class-names.ts'
import { loadable } from '#web/ui/loadable.tsx'
import styles from './message.module.css'
import { QuestionWords } from './question-words.tsx'
import { messageElementId } from './show-target.ts'
import { useThreadPosition } from './thread-position.tsx'

const EditQuestion = loadable(() => import('./edit-question.tsx'), {
  loading: QuestionWords,
  unloaded: <p role="alert">The form could not be loaded. Reload the page to edit this.</p>,
})

type UserMessageProps = {
  messageId: string
  content: string
  createdAt: string
  pending: boolean
  /** Null: the author of the conversation. */
  author: string | null
  withOwnDocuments: boolean
}

/** Name of the person who asked, in a shared conversation; null in others. */
function useAskerName(author: string | null, pending: boolean): string | null {
  const sharedBy = useContext(SharedByContext)
  const { id: userId } = useUser()
  const asker = pending ? userId : (author ?? sharedBy ?? '')
  const name = useAuthorName(asker)
  if (sharedBy === null) return null
  if (asker === userId) return 'You'
  return name === undefined ? 'A member' : (name ?? 'Former member')
}

export function UserMessage({ messageId, content, createdAt, pending, ...rest }: UserMessageProps): JSX.Element {
  const actions = useThreadActions()
  const asker = useAskerName(rest.author, pending)
  const [editing, setEditing] = useState(false)
  const editButton = useRef<HTMLButtonElement>(null)
  return (
    <article
      id={messageElementId(messageId)}
      className={classNames(styles.question, pending && styles.pending)}
      aria-label={asker === null || asker === 'You' ? 'Your message' : `Message of ${asker}`}
      data-asked
      data-text-end
      {...useThreadPosition()}
    >
      {editing ? (
        <EditQuestion
          content={content}
          onAsk={actions && ((text) => actions.branch(messageId, text))}
          onCancel={() => {
            setEditing(false)
            requestAnimationFrame(() => editButton.current?.focus())
          }}
        />
      ) : (
        <>
          <QuestionWords content={content} />
          <div className={styles.foot}>
            {rest.withOwnDocuments && <span className={styles.asked}>own documents too</span>}
            {actions !== null && !pending && (
              <Button
                ref={editButton}
                variant="ghost"
                size="icon"
                className={styles.edit}
                aria-label="Edit message"
                title="Edit"
                onClick={() => setEditing(true)}
              >
                <Pencil size={13} />
              </Button>
            )}
            {asker !== null && <span className={styles.asked}>{asker}</span>}
            <time className={styles.time} dateTime={createdAt} title={formatMoment(createdAt)}>
              {formatTime(createdAt)}
            </time>
          </div>
        </>
      )}
    </article>
  )
}
