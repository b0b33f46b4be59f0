import type { JSX } from 'react'
import { setOwnDocuments, useOwnDocuments } from '#web/data/spaces/own-documents.ts'
import { SwitchMark } from '#web/ui/switch-mark.tsx'
import styles from './composer-parts.module.css'

export function OwnDocumentsSwitch({ conversationId }: { conversationId: string | null }): JSX.Element {
  const isOn = useOwnDocuments(conversationId)
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      className={styles.switch}
      title="Your questions are also answered from the documents in Personal"
      onClick={() => setOwnDocuments(conversationId, !isOn)}
    >
      <SwitchMark checked={isOn} /> and my own documents
    </button>
  )
}
