import { FileText, Lock } from 'lucide-react'
import type { JSX, ReactNode } from 'react'
import { useAvailability } from '#web/data/models.ts'
import { useSelectedModel } from '#web/data/selected-model.ts'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { Tooltip } from '#web/ui/tooltip.tsx'
import styles from './composer.module.css'

function privacyStatement(known: boolean, host: string | null): string {
  if (!known) return 'Where this model runs is not known yet.'
  if (host === null) return 'Nothing leaves this machine: the chosen model runs here.'
  return `The conversation and the passages that fit are sent to ${host}. A document that you name may go there whole, a picture as a picture.`
}

type ComposerFooterProps = {
  /** Null while loading. */
  documentsCount: number | null
  /** Further choices about what is asked. */
  children?: ReactNode
}

export function ComposerFooter({ documentsCount, children }: ComposerFooterProps): JSX.Element {
  const { data: availability } = useAvailability()
  const identifier = useSelectedModel((state) => state.given ?? state.identifier)
  const model = availability?.find((row) => row.model_identifier === identifier)
  return (
    <footer className={styles.footer}>
      <Tooltip content={privacyStatement(model !== undefined, model?.host ?? null)} onPress>
        <button type="button" className={styles.privacy}>
          <Lock size={12} aria-hidden /> Your data stays private
        </button>
      </Tooltip>
      <span className={styles.shortcut}>{`Press ${SHORTCUTS.submit.keys} to send`}</span>
      {documentsCount !== null && documentsCount > 0 && (
        <span className={styles.indexed}>
          <FileText size={12} aria-hidden /> {documentsCount} {documentsCount === 1 ? 'document' : 'documents'} indexed
        </span>
      )}
      {children}
    </footer>
  )
}
