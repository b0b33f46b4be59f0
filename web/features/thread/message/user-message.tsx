import { Pencil } from 'lucide-react'
import { useRef, useState, type JSX } from 'react'
import { useThreadActions } from '#web/features/thread/actions/thread-actions.tsx'
import { messageElementId } from '#web/features/thread/list/show-target.ts'
import { useThreadPosition } from '#web/features/thread/list/thread-position.tsx'
import { formatTime } from '#web/lib/format/format-date.ts'
import { Button } from '#web/ui/button.tsx'
import { classNames } from '#web/ui/class-names.ts'
import { EditQuestion } from './edit-question.tsx'
import styles from './message.module.css'
import { QuestionWords } from './question-words.tsx'

type UserMessageProps = { messageId: string; content: string; createdAt: string; pending: boolean }

export function UserMessage({ messageId, content, createdAt, pending }: UserMessageProps): JSX.Element {
  const actions = useThreadActions()
  const [editing, setEditing] = useState(false)
  const editButton = useRef<HTMLButtonElement>(null)
  const isEditing = editing && actions !== null
  return (
    <article
      id={messageElementId(messageId)}
      className={classNames(styles.question, pending && styles.pending)}
      aria-label="Your message"
      data-asked
      data-text-end
      {...useThreadPosition()}
    >
      {isEditing ? (
        <EditQuestion
          content={content}
          onAsk={(text) => actions.branch(messageId, text)}
          onCancel={() => {
            setEditing(false)
            requestAnimationFrame(() => editButton.current?.focus())
          }}
        />
      ) : (
        <>
          <QuestionWords content={content} />
          <div className={styles.foot}>
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
            <time className={styles.time} dateTime={createdAt}>
              {formatTime(createdAt)}
            </time>
          </div>
        </>
      )}
    </article>
  )
}
