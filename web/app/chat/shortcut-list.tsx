import { drawApart } from '#web/app/apart.tsx'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import styles from './shortcut-list.module.css'

export function showShortcuts(): void {
  const { draw, end } = drawApart()
  draw(
    <Dialog open onOpenChange={end} title="Keyboard Shortcuts">
      <dl className={styles.list}>
        {Object.values(SHORTCUTS).map(({ keys, description }) => (
          <div key={description} className={styles.row}>
            <dt>{description}</dt>
            <dd>
              <kbd>{keys}</kbd>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>,
  )
}
