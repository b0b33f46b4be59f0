import type { JSX } from 'react'
import type { InstallationHealth } from '#contract/operation.ts'
import { describeBytes } from '#contract/usage.ts'
import { formatCount } from '#web/lib/format/daily-usage.ts'
import styles from './operation.module.css'

const HOUR_S = 3600

function describeBackup({
  has_backups: hasBackups,
  backup_age_s: ageS,
  backup_failed: hasFailed,
}: InstallationHealth): string {
  if (!hasBackups) return 'none is scheduled (BACKUP_TARGET)'
  const age =
    ageS === null ? 'none yet' : ageS < HOUR_S ? 'less than an hour ago' : `${Math.floor(ageS / HOUR_S)} hours ago`
  return hasFailed ? `${age}; the last one failed, see the log` : age
}

/** State of the installation: database, disk, queues, backup. */
export function HealthFacts({ health }: { health: InstallationHealth }): JSX.Element {
  const facts: [string, string][] = [
    ['Version', health.version],
    ['Database', describeBytes(health.database_bytes)],
    ['Free on the disk', describeBytes(health.disk_free_bytes)],
    ['Questions waiting', formatCount(health.questions_waiting)],
    ['Documents waiting', formatCount(health.documents_waiting)],
    ['Newest backup', describeBackup(health)],
    ['Search by meaning', health.embeddings ?? 'no model, search uses words alone'],
  ]
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
