import { useQuery } from '@tanstack/react-query'
import type { JSX, ReactNode } from 'react'
import { useSpace } from '#web/data/current-space.ts'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import { ComposerFooter } from '#web/features/composer/composer-footer.tsx'
import { LimitNotice, OwnDocumentsSwitch, TypingLine } from './late-chunk-parts.ts'
import { LatePart } from './late-part.tsx'
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
          <LatePart>
            <TypingLine conversationId={conversationId} />
          </LatePart>
        )}
        {children}
        <ComposerFooter documentsCount={counts?.ready ?? null}>
          {space !== null && mayAsk && (
            <LatePart>
              <OwnDocumentsSwitch conversationId={conversationId} />
            </LatePart>
          )}
          {isDue && (
            <LatePart>
              <LimitNotice conversationId={conversationId} />
            </LatePart>
          )}
        </ComposerFooter>
      </div>
    </div>
  )
}
