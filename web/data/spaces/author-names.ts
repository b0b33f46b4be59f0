/** The names of the members of the current space, by account. */
import { create } from 'zustand'

export const useAuthorNames = create<{ names: Readonly<Record<string, string>> }>(() => ({ names: {} }))
