import { ArrowUp, Square } from 'lucide-react'
import { useEffect, useId, useRef, type ComponentType, type JSX } from 'react'
import { useSpace } from '#web/data/current-space.ts'
import type { DraftId } from '#web/data/drafts.ts'
import { splitCommands } from '#web/lib/messages/tool-commands.ts'
import { Button } from '#web/ui/button.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import styles from './composer.module.css'
import { SuggestionList } from './suggestion-list.tsx'
import { useComposer } from './use-composer.ts'

/** A text for the message box; a new `key` fills it in again. */
export type FilledDraft = { key: number; draftId: DraftId; text: string; focus: boolean }

/** Whether to focus the message box: no other element has the focus, and no on-screen keyboard would open. */
function canTakeFocus(): boolean {
  const nothingFocused = document.activeElement === null || document.activeElement === document.body
  return nothingFocused && getSelection()?.isCollapsed !== false && matchMedia('(hover: hover)').matches
}

/** A box that comes once the page is loaded must not close an open menu, or take what is typed elsewhere. */
const isPersonElsewhere = (): boolean => document.activeElement?.closest('[role=menu], input, textarea, select') != null

/** Runs after the next paint; earlier, reading the layout would force it synchronously. */
function afterPaint(act: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(act)
  })
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}

export type InputMethodProps = {
  conversationId: string | null
  disabled: boolean
  replace: (text: string) => void
}

export type ComposerProps = {
  /** Null: a new conversation. */
  conversationId: string | null
  waiting: boolean
  /** Why the person may not ask here; what was typed stays. Null: it may. */
  refusal?: string | null
  filled: FilledDraft | null
  onSend: (text: string) => void
  /** Stops the reply; null while there is none to stop. */
  onStop: (() => void) | null
  Microphone: ComponentType<InputMethodProps>
}

export function Composer(props: ComposerProps): JSX.Element {
  const { conversationId, waiting, refusal = null, filled, onSend, onStop, Microphone } = props
  const space = useSpace()
  const draftId = conversationId ?? space
  const composer = useComposer({ draftId, disabled: waiting || refusal !== null, onSend })
  const { input, text, change, fill } = composer
  const listId = useId()
  const backdrop = useRef<HTMLDivElement>(null)
  const seenFill = useRef(filled?.key)
  const isNew = conversationId === null

  useEffect(() => {
    if (filled === null || filled.key === seenFill.current) return
    seenFill.current = filled.key
    if (filled.draftId !== draftId) return
    fill(filled.text)
    if (filled.focus) input.current?.focus()
  }, [filled, draftId, fill, input])

  useEffect(() => {
    if (isNew && !isPersonElsewhere() && matchMedia('(hover: hover)').matches) input.current?.focus()
  }, [isNew, input])

  // A disabled box loses the focus; it gets it back with the answer.
  const wasWaiting = useRef(waiting)
  useEffect(() => {
    const ended = wasWaiting.current && !waiting
    wasWaiting.current = waiting
    if (!ended) return
    return afterPaint(() => {
      if (canTakeFocus()) input.current?.focus()
    })
  }, [waiting, input])

  const replace = (replacement: string): void => {
    fill(replacement)
    if (canTakeFocus()) input.current?.focus()
  }

  return (
    <div className={styles.composer}>
      <SuggestionList id={listId} composer={composer} />
      {refusal !== null && (
        <p className={styles.refusal} role="status">
          {refusal}
        </p>
      )}
      <div className={styles.box}>
        <div className={styles.field}>
          <div ref={backdrop} className={styles.backdrop} dir="auto" aria-hidden>
            {splitCommands(text).map((piece, index) =>
              piece.isCommand ? <mark key={index}>{piece.text}</mark> : <span key={index}>{piece.text}</span>,
            )}
          </div>
          <textarea
            ref={input}
            rows={2}
            className={styles.input}
            aria-label="Message"
            aria-controls={listId}
            aria-autocomplete="list"
            aria-haspopup="listbox"
            {...(composer.suggestions.length > 0
              ? { 'aria-activedescendant': `${listId}-${composer.highlighted}` }
              : {})}
            placeholder={
              refusal !== null
                ? ''
                : waiting
                  ? 'Waiting for AI response...'
                  : 'Ask anything... (Try typing @ for tools)'
            }
            disabled={waiting}
            readOnly={refusal !== null}
            dir="auto"
            value={text}
            onChange={(event) => change(event.target.value, event.target.selectionStart)}
            onSelect={(event) => composer.moveCursor(event.currentTarget.selectionStart)}
            onKeyDown={composer.onKeyDown}
            onScroll={(event) => {
              if (backdrop.current !== null) backdrop.current.scrollTop = event.currentTarget.scrollTop
            }}
          />
        </div>
        <Microphone conversationId={conversationId} disabled={waiting || refusal !== null} replace={replace} />
        {waiting && onStop !== null ? (
          <Tooltip content="Stop">
            <Button variant="outline" size="icon" aria-label="Stop" onClick={onStop}>
              <Square size={13} fill="currentColor" />
            </Button>
          </Tooltip>
        ) : (
          <Button size="icon" aria-label="Send message" disabled={!composer.canSend} onClick={composer.submit}>
            <ArrowUp size={18} />
          </Button>
        )}
      </div>
    </div>
  )
}
