import { create } from 'zustand'
import { useSpace } from '#web/data/current-space.ts'
import type { OwnSpace } from './spaces.ts'

/** The spaces of the person as last read, for code of the first view: what reads them loads later. */
export const useKnownSpaces = create<{ spaces: readonly OwnSpace[] }>(() => ({ spaces: [] }))

/** The row of the space that the page shows; null in personal, undefined until it is read. */
export function useCurrentSpace(): OwnSpace | null | undefined {
  const id = useSpace()
  const spaces = useKnownSpaces((state) => state.spaces)
  return id === null ? null : spaces.find((space) => space.id === id)
}
