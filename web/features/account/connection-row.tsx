import { RefreshCw, X } from 'lucide-react'
import { useState, type JSX, type ReactNode } from 'react'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { ErrorText } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'
import styles from './connections.module.css'

type ConnectionRowProps = {
  name: string
  children: ReactNode
  /** The consequences of removing it. */
  warning: string
  onRemove: () => Promise<void>
  /** Absent for connections that cannot be refreshed. */
  onRefresh?: () => Promise<void>
}

export function ConnectionRow({ name, children, warning, onRemove, onRefresh }: ConnectionRowProps): JSX.Element {
  const { busy, errorMessage, run } = useAttempt()
  const [isAsking, setIsAsking] = useState(false)
  return (
    <li className={styles.row}>
      <div className={styles.words}>
        <p>{name}</p>
        <p className={styles.caption}>{children}</p>
        <ErrorText>{errorMessage}</ErrorText>
      </div>
      {onRefresh !== undefined && (
        <Button
          variant="ghost"
          size="icon"
          aria-label={`Refresh ${name}`}
          disabled={busy}
          onClick={() => void run(onRefresh)}
        >
          <RefreshCw size={15} />
        </Button>
      )}
      <Button
        variant="ghost"
        size="icon"
        aria-label={`Remove ${name}`}
        disabled={busy}
        onClick={() => setIsAsking(true)}
      >
        <X size={15} />
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title={`Remove ${name}`}
        description={warning}
        confirmLabel="Remove"
        onConfirm={() => void run(onRemove)}
      />
    </li>
  )
}
