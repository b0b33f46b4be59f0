import { createContext, useContext } from 'react'
import type { ProviderKeyForm } from '#web/data/provider-key-form.ts'

export type ThreadActions = {
  modelName: string | null
  /** @param modelName null: the conversation's model. */
  regenerate: (messageId: string, modelName: string | null) => void
  continueAnswer: (messageId: string) => void
  addKey: (provider: ProviderKeyForm['provider']) => void
  /** Asks an edited message in a new conversation; false on failure. */
  branch: (messageId: string, content: string) => Promise<boolean>
}

/** Null while an answer is awaited: no action is available then. */
export const ThreadActionsContext = createContext<ThreadActions | null>(null)

export const useThreadActions = (): ThreadActions | null => useContext(ThreadActionsContext)
