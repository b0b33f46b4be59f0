import { Pencil } from 'lucide-react'
import { useRef, useState, type JSX } from 'react'
import { formatTime } from '#web/lib/format-date.ts'
import { Button } from '#web/ui/button.tsx'
import { classNames } from '#web/ui/class-names.ts'
import { EditQuestion } from './edit-question.tsx'
import { usePlaceInThread } from './place-in-thread.tsx'
import { QuestionWords } from './question-words.tsx'
import { messageElementId } from './show-target.ts'
import { useThreadActions } from './thread-actions.tsx'
import styles from './message.module.css'

type UserMessageProps = { messageId: string; content: string; createdAt: string; pending: boolean }

/** A person's words: a quiet raised block at the right, with its time, and a way to ask them differently. */
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
      {...usePlaceInThread()}
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
