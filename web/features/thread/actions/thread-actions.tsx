import { createContext, useContext } from 'react'
import type { ProviderKeyForm } from '#web/data/provider-key-form.ts'

/** What can be asked of the messages of the open conversation. */
export type ThreadActions = {
  /** The model that answers in this conversation. */
  modelName: string | null
  /** @param modelName of the new version; null: the conversation's. */
  regenerate: (messageId: string, modelName: string | null) => void
  continueAnswer: (messageId: string) => void
  /** Has the key of a provider entered. */
  addKey: (provider: ProviderKeyForm['provider']) => void
  /** Asks an earlier message differently, in a new conversation. False where that failed. */
  branch: (messageId: string, content: string) => Promise<boolean>
}

/** Null while an answer is awaited: then nothing else can be asked. */
export const ThreadActionsContext = createContext<ThreadActions | null>(null)

export const useThreadActions = (): ThreadActions | null => useContext(ThreadActionsContext)
