import { useCallback, useState } from 'react'
import { useMediaQuery } from '#web/ui/use-media-query.ts'
import { tabButtonId, type RailTab } from './rail.tsx'

export const DRAWER_BUTTON_ID = 'open-navigation'

export type Panel = {
  /** The open tab of the rail; null while the panel is collapsed. */
  tab: RailTab | null
  setTab: (tab: RailTab) => void
  /** On a compact page, rail and panel are in a drawer. */
  isCompact: boolean
  isDrawerOpen: boolean
  setDrawerOpen: (open: boolean) => void
  open: (tab: RailTab) => void
  toggle: (tab: RailTab) => void
  collapse: () => void
}

export function usePanel(): Panel {
  const [tab, setTab] = useState<RailTab | null>('chat')
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const isCompact = useMediaQuery('(width < 900px)')
  const open = useCallback(
    (next: RailTab): void => {
      setTab(next)
      setDrawerOpen(isCompact)
    },
    [isCompact],
  )
  return {
    tab,
    setTab,
    isCompact,
    isDrawerOpen,
    setDrawerOpen,
    open,
    toggle: (pressed) => setTab(pressed === tab ? null : pressed),
    collapse: () => {
      const isByKeyboard = document.activeElement?.matches(':focus-visible') === true
      setTab(null)
      if (isByKeyboard) requestAnimationFrame(() => document.getElementById(tabButtonId(tab ?? 'chat'))?.focus())
    },
  }
}
