import { FileText, MessageSquare, Settings, Users, type LucideIcon } from 'lucide-react'
import type { JSX } from 'react'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import { classNames } from '#web/ui/class-names.ts'
import { Logo } from '#web/ui/logo.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import styles from './rail.module.css'

export type RailTab = 'chat' | 'files' | 'users' | 'settings'

const TABS: { tab: RailTab; label: string; Icon: LucideIcon }[] = [
  { tab: 'chat', label: 'Chat', Icon: MessageSquare },
  { tab: 'files', label: 'Files', Icon: FileText },
  { tab: 'users', label: 'Users', Icon: Users },
  { tab: 'settings', label: 'Settings', Icon: Settings },
]

type RailProps = { open: RailTab | null; onNewChat: () => void; onToggle: (tab: RailTab) => void }

export const tabButtonId = (tab: RailTab): string => `tab-${tab}`

export function Rail({ open, onNewChat, onToggle }: RailProps): JSX.Element {
  return (
    <nav className={styles.rail} aria-label="Main">
      <Tooltip content="New chat" side="right">
        <button
          type="button"
          className={styles.logo}
          aria-label={`${PRODUCT_NAME}: start a new chat`}
          onClick={onNewChat}
        >
          <Logo size={28} />
        </button>
      </Tooltip>
      {TABS.map(({ tab, label, Icon }) => (
        <Tooltip key={tab} content={label} side="right">
          <button
            id={tabButtonId(tab)}
            type="button"
            className={classNames(styles.tab, open === tab && styles.open)}
            aria-label={label}
            aria-expanded={open === tab}
            aria-controls="side-panel"
            onClick={() => onToggle(tab)}
          >
            <Icon size={20} strokeWidth={1.6} />
          </button>
        </Tooltip>
      ))}
    </nav>
  )
}
