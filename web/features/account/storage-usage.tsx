import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { describeBytes } from '#contract/usage.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { usageQuery } from '#web/data/usage.ts'
import { Progress } from '#web/ui/progress.tsx'
import styles from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'

const BYTES_PER_MB = 1e6

function describeUsage(label: string, used: number | undefined, limit: number | undefined): string {
  if (used === undefined || limit === undefined) return label
  const amount = used < BYTES_PER_MB ? 'less than 1 MB' : describeBytes(used)
  const text = `${label} use ${amount}${limit === 0 ? '' : ` of ${describeBytes(limit)}`}.`
  // A number and its unit stay on one line.
  return text.replaceAll(/ (?=[kMG]B)/g, '\u00a0')
}

/** Space that the documents and conversations of the person take, and may take. */
export function StorageUsage(): JSX.Element {
  const { id } = useUser()
  const { data: usage, isError } = useQuery(usageQuery(id))
  return (
    <div className={styles.list}>
      <UsageRow label="Documents" used={usage?.file_bytes} limit={usage?.file_limit} />
      <UsageRow label="Conversations" used={usage?.text_bytes} limit={usage?.text_limit} />
      <p className={styles.caption}>Deleting documents or conversations makes room.</p>
      <ErrorText>{isError ? 'The space that you use could not be loaded.' : null}</ErrorText>
    </div>
  )
}

type UsageRowProps = { label: string; used: number | undefined; limit: number | undefined }

/** A limit of 0 is none. */
function UsageRow({ label, used, limit }: UsageRowProps): JSX.Element {
  const share = used === undefined || limit === undefined || limit === 0 ? 0 : (100 * used) / limit
  return (
    <div className={styles.field}>
      <p>{describeUsage(label, used, limit)}</p>
      {limit !== 0 && <Progress value={Math.min(100, share)} label={`${label}, space used`} />}
    </div>
  )
}
