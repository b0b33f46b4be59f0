import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { readDraft, storeDraft } from '#web/data/drafts.ts'
import { commandTokenAt, insertCommand, matchingCommands, type ToolCommand } from '#web/lib/tool-commands.ts'

const MAX_HEIGHT_PX = 200

type ComposerOptions = { conversationId: string | null; disabled: boolean; onSend: (text: string) => void }

export type ComposerState = {
  input: RefObject<HTMLTextAreaElement | null>
  text: string
  canSend: boolean
  suggestions: readonly ToolCommand[]
  highlighted: number
  change: (text: string, cursor: number) => void
  moveCursor: (cursor: number) => void
  pick: (command: ToolCommand) => void
  onKeyDown: (event: KeyboardEvent) => void
  submit: () => void
}

/** What is typed (kept over a reload), the @-suggestions for it, and its sending. */
export function useComposer({ conversationId, disabled, onSend }: ComposerOptions): ComposerState {
  const input = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(() => readDraft(conversationId))
  const [cursor, setCursor] = useState(0)
  const [closedFor, setClosedFor] = useState<number | null>(null)
  const [highlighted, setHighlighted] = useState(0)
  const pendingCursor = useRef<number | null>(null)

  const token = commandTokenAt(text, cursor)
  const suggestions = token === null || token.start === closedFor ? [] : matchingCommands(token)
  const canSend = !disabled && text.trim() !== ''

  useLayoutEffect(() => {
    const box = input.current
    if (box === null) return
    box.style.height = 'auto'
    box.style.height = `${Math.min(box.scrollHeight, MAX_HEIGHT_PX)}px`
  }, [text])

  useEffect(() => {
    if (pendingCursor.current === null) return
    input.current?.setSelectionRange(pendingCursor.current, pendingCursor.current)
    pendingCursor.current = null
  })

  const change = (next: string, nextCursor: number): void => {
    setText(next)
    setCursor(nextCursor)
    setHighlighted(0)
    storeDraft(conversationId, next)
    if (commandTokenAt(next, nextCursor)?.start !== closedFor) setClosedFor(null)
  }

  const pick = ({ command }: ToolCommand): void => {
    if (token === null) return
    const inserted = insertCommand(text, token, command)
    change(inserted.text, inserted.cursor)
    pendingCursor.current = inserted.cursor
    input.current?.focus()
  }

  const submit = (): void => {
    if (!canSend) return
    const sent = text.trim()
    change('', 0)
    onSend(sent)
  }

  const onSuggestionKey = (event: KeyboardEvent): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setHighlighted((highlighted + step + suggestions.length) % suggestions.length)
    else if (event.key === 'Escape') setClosedFor(token?.start ?? null)
    else if (event.key === 'Tab' || (event.key === 'Enter' && !event.ctrlKey && !event.metaKey)) {
      const picked = suggestions[highlighted]
      if (picked !== undefined) pick(picked)
    } else return false
    return true
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    const handled = suggestions.length > 0 && !event.shiftKey && onSuggestionKey(event)
    if (handled) event.preventDefault()
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      submit()
    }
  }

  return { input, text, canSend, suggestions, highlighted, change, moveCursor: setCursor, pick, onKeyDown, submit }
}
