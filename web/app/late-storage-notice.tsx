import type { JSX } from 'react'
import { useUnstored } from '#web/data/storage/unstored.ts'
import { loadable } from '#web/ui/loadable.tsx'
import type { StorageNoticeProps } from './storage-notice.tsx'

const StorageNotice = loadable(() => import('./storage-notice.tsx'))

/** A status region, because screen readers announce only what is added to one. */
export function LateStorageNotice(props: StorageNoticeProps): JSX.Element {
  const isNeeded = useUnstored(({ isRefused, kinds }) => isRefused || kinds.length > 0)
  return <div role="status">{isNeeded && <StorageNotice {...props} />}</div>
}
