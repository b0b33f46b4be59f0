import { createContext } from 'react'

/** The author of a shared conversation, whose questions show who asked; empty if the account is gone. Null: not shared. */
export const SharedByContext = createContext<string | null>(null)
