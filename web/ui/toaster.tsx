import { X } from 'lucide-react'
import { Toast } from 'radix-ui'
import type { JSX } from 'react'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import { TOAST_DISPLAY_MS, TOAST_SWIPE_PX } from './toast-constants.ts'
import { dismissToast, useToastState } from './toast.tsx'
import styles from './toaster.module.css'

export default function Toaster(): JSX.Element {
  const current = useToastState((state) => state.current)
  return (
    <Toast.Provider duration={TOAST_DISPLAY_MS} swipeDirection="right" swipeThreshold={TOAST_SWIPE_PX}>
      {current !== null && (
        <Toast.Root
          key={current.key}
          open={current.open}
          onOpenChange={(open) => {
            if (!open) dismissToast(current.key)
          }}
          type={current.variant === 'destructive' ? 'foreground' : 'background'}
          className={classNames(styles.toast, current.variant === 'destructive' && styles.destructive)}
          data-variant={current.variant ?? 'default'}
        >
          <div className={styles.words}>
            <Toast.Title className={styles.title}>{current.title}</Toast.Title>
            {current.description !== undefined && (
              <Toast.Description className={styles.description}>{current.description}</Toast.Description>
            )}
          </div>
          <Toast.Close asChild>
            <Button variant="ghost" size="icon" aria-label="Close notification" className={styles.close}>
              <X size={14} />
            </Button>
          </Toast.Close>
        </Toast.Root>
      )}
      <Toast.Viewport className={styles.viewport} hotkey={[SHORTCUTS.focusNotifications.keys]} />
    </Toast.Provider>
  )
}
