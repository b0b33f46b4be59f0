import { createContext } from 'react'

/** Whether the surrounding answer is still streaming, so that its last block may be incomplete. */
export const WritingContext = createContext(false)
