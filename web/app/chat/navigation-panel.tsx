import type { JSX } from 'react'
import { Sheet } from '#web/ui/sheet.tsx'
import { useNavigation } from './navigation.tsx'
import { Rail, type RailTab } from './rail.tsx'
import { SidePanel } from './side-panel.tsx'
import type { Panel } from './use-panel.ts'

type NavigationPanelProps = {
  panel: Panel
  userId: string
  activeId: string | null
  onDeleted: (id: string) => void
}

export function NavigationPanel({ panel, userId, activeId, onDeleted }: NavigationPanelProps): JSX.Element {
  const { newChat, selectChat } = useNavigation()
  const content = (tab: RailTab | null, onToggle: (tab: RailTab) => void, onCollapse: () => void): JSX.Element => (
    <>
      <Rail open={tab} onNewChat={newChat} onToggle={onToggle} />
      {tab !== null && (
        <SidePanel
          tab={tab}
          history={{ userId, activeId, onSelect: selectChat, onNewChat: newChat, onDeleted, onCollapse }}
        />
      )}
    </>
  )
  if (!panel.isCompact) return content(panel.tab, panel.toggle, panel.collapse)
  return (
    <Sheet open={panel.isDrawerOpen} onOpenChange={panel.setDrawerOpen} label="Navigation" side="left">
      {content(panel.tab ?? 'chat', panel.setTab, () => panel.setDrawerOpen(false))}
    </Sheet>
  )
}
