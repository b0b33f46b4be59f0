import { useQueries } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import type { NamedDocument } from '#contract/document.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { documentQuery } from '#web/data/documents/document-queries.ts'
import { readDraft, storeDraft } from '#web/data/drafts.ts'
import { addDocumentNames, removeDocumentName } from '#web/lib/documents/document-names.ts'

/** A larger upload, such as a folder, is not the subject of one question. */
const MAX_NAMED = 10

type Named = { conversationId: string; id: string; filename: string }

type Fill = (conversationId: string, text: string, options: { focus: boolean }) => void

/** Adds the names of new documents to the open message box, and removes those that cannot be read. */
export function useNamedDocuments(
  openId: string | null,
  fill: Fill,
): (conversationId: string, documents: readonly NamedDocument[]) => void {
  const { id: userId } = useUser()
  const [named, setNamed] = useState<readonly Named[]>([])
  const ended = useQueries({
    queries: [...new Set(named.map(({ id }) => id))].map(documentQuery),
    combine: (results) =>
      results.flatMap(({ data }) => (data?.state === 'failed' || data?.state === 'ready' ? [data] : [])),
  })

  const takeOutFailed = useEffectEvent(() => {
    const isFailed = new Set(ended.filter(({ state }) => state === 'failed').map(({ id }) => id))
    const gone = named.filter(({ id }) => isFailed.has(id))
    for (const { conversationId, filename } of gone) {
      const draft = readDraft(userId, conversationId)
      const text = removeDocumentName(filename, draft)
      if (text === draft) continue
      storeDraft(userId, conversationId, text)
      if (conversationId === openId) fill(conversationId, text, { focus: false })
    }
  })
  useEffect(() => takeOutFailed(), [ended])

  return (conversationId, documents) => {
    const readable = documents.filter(({ state }) => state !== 'failed')
    if (readable.length === 0 || readable.length > MAX_NAMED) return
    const isOver = new Set(ended.map(({ id }) => id))
    setNamed((all) => [
      ...all.filter(({ id }) => !isOver.has(id)),
      ...readable.map(({ id, filename }) => ({ conversationId, id, filename })),
    ])
    const names = readable.map(({ filename }) => filename)
    const text = addDocumentNames(names, readDraft(userId, conversationId))
    storeDraft(userId, conversationId, text)
    fill(conversationId, text, { focus: true })
  }
}
