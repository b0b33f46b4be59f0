import { create } from 'zustand'

/** The person's choice; null while the tray decides from the state of the uploads. */
export const useTrayOpen = create<{ isOpen: boolean | null }>(() => ({ isOpen: null }))

export function setTrayOpen(isOpen: boolean | null): void {
  useTrayOpen.setState({ isOpen })
}
