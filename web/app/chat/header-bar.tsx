import { Menu as MenuIcon, Search } from 'lucide-react'
import type { JSX } from 'react'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import { AccountMenu } from '#web/features/account/account-menu.tsx'
import { SettingsMenu } from '#web/features/account/settings-menu.tsx'
import { ModelPicker } from '#web/features/model-picker/model-picker.tsx'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { Button } from '#web/ui/button.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import styles from './header-bar.module.css'
import { useNavigation } from './navigation.tsx'
import { DRAWER_BUTTON_ID } from './use-panel.ts'

type HeaderBarProps = { onOpenDrawer: (() => void) | null; onSearch: () => void }

export function HeaderBar({ onOpenDrawer, onSearch }: HeaderBarProps): JSX.Element {
  const { openSettings } = useNavigation()
  return (
    <header className={styles.header}>
      {onOpenDrawer !== null && (
        <Button variant="ghost" size="icon" id={DRAWER_BUTTON_ID} aria-label="Open navigation" onClick={onOpenDrawer}>
          <MenuIcon size={20} />
        </Button>
      )}
      <span className={styles.wordmark}>{PRODUCT_NAME}</span>
      <div className={styles.menus}>
        <Tooltip content={`Search (${SHORTCUTS.openPalette.keys})`}>
          <Button variant="ghost" size="icon" aria-label="Search" aria-haspopup="dialog" onClick={onSearch}>
            <Search size={18} />
          </Button>
        </Tooltip>
        <ModelPicker onAddKey={openSettings} />
        <SettingsMenu />
        <AccountMenu />
      </div>
    </header>
  )
}
