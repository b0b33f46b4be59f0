import { X } from 'lucide-react'
import type { JSX, ReactNode } from 'react'
import { Button } from '#web/ui/button.tsx'
import { Refusal } from './section.tsx'
import { useAttempt } from './use-attempt.ts'
import styles from './connections.module.css'

type ConnectionRowProps = { name: string; children: ReactNode; onRemove: () => Promise<void> }

/** One thing that is connected: its name, what is known of it, and the way to remove it. */
export function ConnectionRow({ name, children, onRemove }: ConnectionRowProps): JSX.Element {
  const { busy, refusal, run } = useAttempt()
  return (
    <li className={styles.row}>
      <div className={styles.words}>
        <p>{name}</p>
        <p className={styles.caption}>{children}</p>
        <Refusal>{refusal}</Refusal>
      </div>
      <Button
        variant="ghost"
        size="icon"
        aria-label={`Remove ${name}`}
        disabled={busy}
        onClick={() => void run(onRemove)}
      >
        <X size={15} />
      </Button>
    </li>
  )
}
