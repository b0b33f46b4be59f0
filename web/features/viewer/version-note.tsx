import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { documentVersionsQuery } from '#web/data/documents/document-queries.ts'
import { formatFullDay } from '#web/lib/format/format-day.ts'
import { Button } from '#web/ui/button.tsx'
import { Select } from '#web/ui/select.tsx'

import styles from './version-note.module.css'

interface VersionNoteProps {
  document: DocumentRow
  onOpen: (documentId: string) => void
}

export function VersionNote({ document, onOpen }: VersionNoteProps): JSX.Element {
  const versions = useQuery(documentVersionsQuery(document)).data ?? []
  const newest = versions.find(({ superseded_at, state }) => superseded_at === null && state === 'ready')
  const isOld = document.superseded_at !== null
  return (
    <p className={styles.note} data-old={isOld}>
      <label>
        <span className={styles.label}>Version</span>
        <Select
          size="sm"
          className={styles.choice}
          value={document.id}
          onChange={({ currentTarget }) => onOpen(currentTarget.value)}
        >
          {(versions.length > 0 ? versions : [document]).map(({ id, version, uploaded_at }) => (
            <option key={id} value={id}>
              {version}, {formatFullDay(uploaded_at, 'short')}
            </option>
          ))}
        </Select>
      </label>
      {isOld && (
        <span>
          A newer version is searched now.{' '}
          {newest && (
            <Button variant="link" size="sm" onClick={() => onOpen(newest.id)}>
              Open version {newest.version}
            </Button>
          )}
        </span>
      )}
    </p>
  )
}
