import type { JSX, ReactNode } from 'react'
import { NOT_IN_PASSAGE } from '#web/lib/messages/answer-notes.ts'
import { Tooltip } from '#web/ui/tooltip.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import styles from './unverified-claim.module.css'

/** A figure, date or name that none of the passages cited for it holds. */
export function UnverifiedClaim({ children }: { children: ReactNode }): JSX.Element {
  return (
    <Tooltip content={NOT_IN_PASSAGE} onPress>
      <span className={styles.claim} tabIndex={0} data-unverified>
        {children}
        <span className={hidden.uncopied}> ({NOT_IN_PASSAGE})</span>
      </span>
    </Tooltip>
  )
}
