/** Where questions of a space are also answered from the asker's own documents; forgotten with the page. */
import { create } from 'zustand'

const NEW = 'new'

const useOwnDocumentsStore = create<{ conversation: string | null }>(() => ({ conversation: null }))

/** @param conversationId null: a new conversation */
export const useOwnDocuments = (conversationId: string | null): boolean =>
  useOwnDocumentsStore(({ conversation }) => conversation === (conversationId ?? NEW))

export const areOwnDocumentsAsked = (conversationId: string | null): boolean =>
  useOwnDocumentsStore.getState().conversation === (conversationId ?? NEW)

export function setOwnDocuments(conversationId: string | null, isOn: boolean): void {
  useOwnDocumentsStore.setState({ conversation: isOn ? (conversationId ?? NEW) : null })
}
