import { X } from 'lucide-react'
import { useEffect, useState, type JSX } from 'react'
import { useUnstored, type UnstoredKind } from '#web/data/storage/unstored.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './storage-notice.module.css'

const LOSSES: readonly { kind: UnstoredKind; words: string }[] = [
  { kind: 'drafts', words: 'what you typed and did not send' },
  { kind: 'recordings', words: 'recordings without a transcript' },
  { kind: 'files', words: 'files that are not sent yet' },
  { kind: 'settings', words: 'the settings of this browser' },
]

/** Kinds that a person made and cannot get back. */
const IRREPLACEABLE: readonly UnstoredKind[] = ['drafts', 'files', 'recordings']

const holdBack = (event: BeforeUnloadEvent): void => event.preventDefault()

const listFormat = new Intl.ListFormat('en')

export type StorageNoticeProps = { isSigningIn: boolean }

function describeLoss(isLost: (kind: UnstoredKind) => boolean): string {
  const lost = LOSSES.filter(({ kind }) => isLost(kind)).map(({ words }) => words)
  const effects = [
    ...(isLost('session') ? ['signs you out'] : []),
    ...(lost.length > 0 ? [`loses ${listFormat.format(lost)}`] : []),
  ]
  return `Reloading or leaving this page ${effects.join(' and ')}.`
}

/** Says what leaving the page would lose, until it is closed or more would be lost. */
export default function StorageNotice({ isSigningIn }: StorageNoticeProps): JSX.Element | null {
  const { isRefused, kinds } = useUnstored()
  const [closed, setClosed] = useState<string | null>(null)
  const state = isRefused ? 'refused' : kinds.join()
  const isLeavingHeldBack = kinds.some((kind) => IRREPLACEABLE.includes(kind))
  useEffect(() => {
    if (!isLeavingHeldBack) return
    addEventListener('beforeunload', holdBack)
    return () => removeEventListener('beforeunload', holdBack)
  }, [isLeavingHeldBack])
  if (closed === state) return null
  return (
    <div className={styles.notice}>
      <p>
        {isRefused ? 'This browser stores nothing for this page. ' : 'This browser has not stored everything. '}
        {describeLoss((kind) => isRefused || kinds.includes(kind))}
        {isRefused &&
          isSigningIn &&
          ' Sign in with a password or a mailed code: links and other services need storage.'}
      </p>
      <Button variant="ghost" size="icon" aria-label="Close notice" onClick={() => setClosed(state)}>
        <X size={14} />
      </Button>
    </div>
  )
}
