import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { documentsKey, documentsQuery } from '#web/data/documents/document-queries.ts'
import { readDraft, storeDraft } from '#web/data/drafts.ts'
import { addDocumentNames, removeDocumentName } from '#web/lib/documents/document-names.ts'

/** A larger upload, such as a folder, is not the subject of one question. */
const MAX_NAMED = 10

type Named = { conversationId: string; id: string; filename: string }

const failedIds = (documents: readonly DocumentRow[]): string[] =>
  documents.filter(({ state }) => state === 'failed').map(({ id }) => id)

type Fill = (conversationId: string, text: string, options: { focus: boolean }) => void

/** Adds the names of new documents to the open message box, and removes those that cannot be read. */
export function useNamedDocuments(
  openId: string | null,
  fill: Fill,
): (conversationId: string, documents: readonly DocumentRow[]) => void {
  const { id: userId } = useUser()
  const queryClient = useQueryClient()
  const named = useRef<readonly Named[]>([])
  const { data: failed } = useQuery({ ...documentsQuery(), select: failedIds })

  const takeOut = useEffectEvent((ids: readonly string[]) => {
    const gone = named.current.filter(({ id }) => ids.includes(id))
    named.current = named.current.filter((one) => !gone.includes(one))
    for (const { conversationId, filename } of gone) {
      const draft = readDraft(userId, conversationId)
      const text = removeDocumentName(filename, draft)
      if (text === draft) continue
      storeDraft(userId, conversationId, text)
      if (conversationId === openId) fill(conversationId, text, { focus: false })
    }
  })
  useEffect(() => takeOut(failed ?? []), [failed])

  return (conversationId, documents) => {
    const known = queryClient.getQueryData<DocumentRow[]>(documentsKey) ?? documents
    const failedNow = new Set(failedIds([...documents, ...known]))
    const readable = documents.filter(({ id }) => !failedNow.has(id))
    if (readable.length === 0 || readable.length > MAX_NAMED) return
    named.current = [...named.current, ...readable.map(({ id, filename }) => ({ conversationId, id, filename }))]
    const names = readable.map(({ filename }) => filename)
    const text = addDocumentNames(names, readDraft(userId, conversationId))
    storeDraft(userId, conversationId, text)
    fill(conversationId, text, { focus: true })
  }
}
