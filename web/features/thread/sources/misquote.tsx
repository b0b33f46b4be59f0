import type { JSX, ReactNode } from 'react'
import { Tooltip } from '#web/ui/tooltip.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import styles from './misquote.module.css'

const NOT_FOUND = 'Not found word for word in the source'

export function Misquote({ children }: { children: ReactNode }): JSX.Element {
  return (
    <Tooltip content={NOT_FOUND} onPress>
      <span className={styles.misquote} tabIndex={0} data-misquote>
        {children}
        <span className={hidden.hidden}> ({NOT_FOUND})</span>
      </span>
    </Tooltip>
  )
}

export function MisquoteLine(): JSX.Element {
  return <p className={styles.line}>{NOT_FOUND}</p>
}
