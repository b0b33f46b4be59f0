import { createContext, useContext } from 'react'
import type { NamedDocument } from '#contract/document.ts'
import type { FoundPassage } from '#contract/search.ts'
import type { Printed } from '#web/app/print/print-page.tsx'
import type { Space } from '#web/data/current-space.ts'
import type { TargetMessage } from '#web/data/target-message.ts'
import type { OpenSource } from '#web/features/thread/message/assistant-message.tsx'
import type { RailTab } from './rail.tsx'

export type Navigation = {
  /** Shows the start page of a space; null: of Personal. */
  openSpace: (space: Space) => void
  newSpace: () => void
  /** The dialog of a new space is open, which takes its documents. */
  isMakingSpace: boolean
  newChat: () => void
  selectChat: (id: string) => void
  openBranch: (id: string) => void
  openMessage: (target: TargetMessage) => void
  openSource: OpenSource
  openDocument: (id: string) => void
  openPassage: (passage: FoundPassage) => void
  openPanel: (tab: RailTab) => void
  openSettings: () => void
  showIntroduction: () => void
  /** Begins a new chat whose question names the documents. */
  askAbout: (documents: readonly NamedDocument[]) => void
  /** Loads and prints all of it; null: of what has the focus. */
  print: (printed: Printed | null) => void
}

export const NavigationContext = createContext<Navigation | null>(null)

export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext)
  if (navigation === null) throw new Error('useNavigation must be used within a NavigationContext')
  return navigation
}
