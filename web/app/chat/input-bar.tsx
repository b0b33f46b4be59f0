import { useQuery } from '@tanstack/react-query'
import type { JSX, ReactNode } from 'react'
import { useSpace } from '#web/data/current-space.ts'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import { ComposerFooter } from '#web/features/composer/composer-footer.tsx'
import { LimitNotice, OwnDocumentsSwitch, TypingLine } from './late-chunk-parts.ts'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'
import { useAfterFirstReads } from './use-after-first-reads.ts'
import styles from './workspace.module.css'

type InputBarProps = { conversationId: string | null; mayAsk: boolean; children: ReactNode }

export function InputBar({ conversationId, mayAsk, children }: InputBarProps): JSX.Element {
  const space = useSpace()
  const isDue = useAfterFirstReads()
  const { data: counts } = useQuery(documentCountsQuery(space))
  return (
    <div className={styles.inputBar}>
      <div className={styles.inputContent}>
        {space !== null && conversationId !== null && (
          <ErrorBoundary isQuiet>
            <TypingLine conversationId={conversationId} />
          </ErrorBoundary>
        )}
        {children}
        <ComposerFooter documentsCount={counts?.ready ?? null}>
          {space !== null && mayAsk && (
            <ErrorBoundary isQuiet>
              <OwnDocumentsSwitch conversationId={conversationId} />
            </ErrorBoundary>
          )}
          {isDue && (
            <ErrorBoundary isQuiet>
              <LimitNotice conversationId={conversationId} />
            </ErrorBoundary>
          )}
        </ComposerFooter>
      </div>
    </div>
  )
}
