import { useQuery } from '@tanstack/react-query'
import type { JSX, ReactNode } from 'react'
import { documentsQuery } from '#web/data/documents/document-queries.ts'
import { ComposerFooter } from '#web/features/composer/composer-footer.tsx'
import styles from './workspace.module.css'

export function InputBar({ children }: { children: ReactNode }): JSX.Element {
  const { data: documents } = useQuery(documentsQuery())
  return (
    <div className={styles.inputBar}>
      <div className={styles.inputContent}>
        {children}
        <ComposerFooter documentsCount={documents?.filter(({ state }) => state === 'ready').length ?? null} />
      </div>
    </div>
  )
}
