import { createContext } from 'react'

/** Whether the answer around is still being written, so that a block at its end may not be finished. */
export const WritingContext = createContext(false)
