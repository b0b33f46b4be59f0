import { useQuery } from '@tanstack/react-query'
import type { JSX, ReactNode } from 'react'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import { ComposerFooter } from '#web/features/composer/composer-footer.tsx'
import styles from './workspace.module.css'

export function InputBar({ children }: { children: ReactNode }): JSX.Element {
  const { data: counts } = useQuery(documentCountsQuery())
  return (
    <div className={styles.inputBar}>
      <div className={styles.inputContent}>
        {children}
        <ComposerFooter documentsCount={counts?.ready ?? null} />
      </div>
    </div>
  )
}
