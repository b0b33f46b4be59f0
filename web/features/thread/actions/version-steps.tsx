import { ChevronLeft, ChevronRight } from 'lucide-react'
import type { JSX } from 'react'
import { MAX_EARLIER_VERSIONS } from '#contract/message.ts'
import styles from '#web/features/thread/message/message.module.css'
import { Button } from '#web/ui/button.tsx'

type VersionStepsProps = { version: number; newest: number; onStep: (version: number) => void }

export function VersionSteps({ version, newest, onStep }: VersionStepsProps): JSX.Element {
  return (
    <span className={styles.versions} role="group" aria-label="Versions of this answer">
      <Button
        variant="ghost"
        size="icon"
        aria-label="Earlier version"
        disabled={version <= Math.max(1, newest - MAX_EARLIER_VERSIONS)}
        onClick={() => onStep(version - 1)}
      >
        <ChevronLeft size={15} />
      </Button>
      <span aria-live="polite">
        {version} / {newest}
      </span>
      <Button
        variant="ghost"
        size="icon"
        aria-label="Later version"
        disabled={version === newest}
        onClick={() => onStep(version + 1)}
      >
        <ChevronRight size={15} />
      </Button>
    </span>
  )
}
