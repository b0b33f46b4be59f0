import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { useSpace } from '#web/data/current-space.ts'
import { documentMatchesQuery } from '#web/data/documents/document-queries.ts'
import { followDraft, readDraft, storeDraft, type DraftId } from '#web/data/drafts.ts'
import { matchingNames, nameTokenAt, quoteName, typedName } from '#web/lib/documents/document-names.ts'
import { commandTokenAt, insertCommand, matchingCommands, type CommandToken } from '#web/lib/messages/tool-commands.ts'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'

const MAX_HEIGHT_PX = 200

type ComposerOptions = {
  draftId: DraftId
  disabled: boolean
  onSend: (text: string) => void
}

/** A text to insert in place of the token at the cursor. */
export type Suggestion = { kind: 'tool' | 'document'; shown: string; inserted: string; description: string }

export type ComposerState = {
  input: RefObject<HTMLTextAreaElement | null>
  text: string
  canSend: boolean
  suggestions: readonly Suggestion[]
  highlighted: number
  change: (text: string, cursor: number) => void
  /** Replaces the text and moves the cursor to its end. */
  fill: (text: string) => void
  moveCursor: (cursor: number) => void
  pick: (suggestion: Suggestion) => void
  onKeyDown: (event: KeyboardEvent) => void
  submit: () => void
}

const tokenAt = (text: string, cursor: number): CommandToken | null =>
  commandTokenAt(text, cursor) ?? nameTokenAt(text, cursor)

/** Tools after `@`, documents after `@knowledge`. */
function useSuggestions(text: string, cursor: number): readonly Suggestion[] {
  const command = commandTokenAt(text, cursor)
  const name = command === null ? nameTokenAt(text, cursor) : null
  const typed = typedName(name)
  const space = useSpace()
  const { data: documents = [] } = useQuery({ ...documentMatchesQuery(typed, space), enabled: typed !== '' })
  if (command !== null)
    return matchingCommands(command).map(({ command: shown, description }) => ({
      kind: 'tool',
      shown,
      inserted: shown,
      description,
    }))
  const names = documents.map(({ filename }) => filename)
  return matchingNames(name, names).map((shown) => ({
    kind: 'document',
    shown,
    inserted: quoteName(shown),
    description: '',
  }))
}

function fitHeight(box: HTMLTextAreaElement): void {
  box.style.height = 'auto'
  box.style.height = `${Math.min(box.scrollHeight, MAX_HEIGHT_PX)}px`
}

/** Text wraps into more lines once a document opens next to the conversation. */
function fitHeightToWidth(box: HTMLTextAreaElement): () => void {
  let width = box.clientWidth
  const observer = new ResizeObserver(() => {
    if (box.clientWidth === width) return
    width = box.clientWidth
    // Later: a height that an observer changes at once is reported as an error, a loop.
    requestAnimationFrame(() => fitHeight(box))
  })
  observer.observe(box)
  return () => observer.disconnect()
}

export function useComposer({ draftId, disabled, onSend }: ComposerOptions): ComposerState {
  const userId = useUser().id
  const input = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(() => readDraft(userId, draftId))
  const [cursor, setCursor] = useState(0)
  const [closedFor, setClosedFor] = useState<number | null>(null)
  const [chosen, setHighlighted] = useState(0)
  // The cursor of a restored draft is at its end.
  const pendingCursor = useRef<number | null>(text === '' ? null : text.length)

  const token = tokenAt(text, cursor)
  const offered = useSuggestions(text, cursor)
  const suggestions = token === null || token.start === closedFor ? [] : offered
  const highlighted = Math.min(chosen, Math.max(0, suggestions.length - 1))
  const canSend = !disabled && text.trim() !== ''

  useLayoutEffect(() => {
    if (input.current !== null) fitHeight(input.current)
  }, [text])
  useEffect(() => (input.current === null ? undefined : fitHeightToWidth(input.current)), [])

  useEffect(() => {
    if (pendingCursor.current === null) return
    input.current?.setSelectionRange(pendingCursor.current, pendingCursor.current)
    pendingCursor.current = null
  })

  /** The text was typed in this tab, and is not that of another one. */
  const isTypedHere = useRef(false)
  /** Another tab has stored something else meanwhile. */
  const isOverwritten = useRef(false)
  const onStored = useEffectEvent((stored: string) => {
    isOverwritten.current = isTypedHere.current
    if (!isOverwritten.current) setText(stored)
  })
  const storeAgain = useEffectEvent((event: Event) => {
    // When this tab only closes, the draft of another one stays.
    if (isOverwritten.current && (event.type === 'blur' || readDraft(userId, draftId) === ''))
      storeDraft(userId, draftId, text)
    isOverwritten.current = false
  })
  useEffect(() => followDraft(userId, draftId, onStored), [userId, draftId])
  useEffect(() => {
    const box = input.current
    const store = (event: Event): void => storeAgain(event)
    box?.addEventListener('blur', store)
    addEventListener('pagehide', store)
    return () => {
      box?.removeEventListener('blur', store)
      removeEventListener('pagehide', store)
    }
  }, [])

  const change = (next: string, nextCursor: number): void => {
    setText(next)
    isTypedHere.current = next !== ''
    setCursor(nextCursor)
    setHighlighted(0)
    storeDraft(userId, draftId, next)
    if (tokenAt(next, nextCursor)?.start !== closedFor) setClosedFor(null)
  }

  const pick = ({ inserted: words }: Suggestion): void => {
    if (token === null) return
    const inserted = insertCommand(text, token, words)
    change(inserted.text, inserted.cursor)
    pendingCursor.current = inserted.cursor
    input.current?.focus()
  }

  const fill = (next: string): void => {
    change(next, next.length)
    pendingCursor.current = next.length
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
    else if (event.key === 'Tab' || (event.key === 'Enter' && !SHORTCUTS.submit.matches(event))) {
      const picked = suggestions[highlighted]
      if (picked !== undefined) pick(picked)
    } else return false
    return true
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    const handled = suggestions.length > 0 && !event.shiftKey && onSuggestionKey(event)
    if (handled) event.preventDefault()
    else if (SHORTCUTS.submit.matches(event)) {
      event.preventDefault()
      submit()
    }
  }

  return {
    input,
    text,
    canSend,
    suggestions,
    highlighted,
    change,
    fill,
    moveCursor: setCursor,
    pick,
    onKeyDown,
    submit,
  }
}
