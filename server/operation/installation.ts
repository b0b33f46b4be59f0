/** State of the installation, without anything that people wrote or stored. */
import { statfs } from 'node:fs/promises'
import type { Installation, InstallationHealth, OperatedModel } from '#contract/operation.ts'
import type { Database } from '#server/database/scope.ts'
import type { OperatorSettings } from './settings.ts'

/** Read at each request; undefined without scheduled backups. */
export type ReadBackupState = () => { readonly ageS: number; readonly hasFailed: boolean }

export interface InstallationParts {
  readonly database: Database
  readonly settings: OperatorSettings
  readonly version: string
  readonly dataDir: string
  readonly embeddings: string | null
  readonly readBackupState: ReadBackupState | undefined
  /** Providers of the environment, with the host that receives questions; null for this server itself. */
  readonly providers: readonly { readonly name: string; readonly host: string | null }[]
  readonly modelOffers: ModelOffers
}

/** Which models the installation offers. `offer` throws AppError `not_found` and `conflict`. */
export interface ModelOffers {
  readonly list: () => Promise<OperatedModel[]>
  readonly areFixed: boolean
  readonly offer: (ids: readonly string[], isOffered: boolean, operator: string) => Promise<void>
}

interface Counts extends Record<string, unknown> {
  database_bytes: string
  questions_waiting: number
  documents_waiting: number
}

export async function describeHealth(parts: InstallationParts): Promise<InstallationHealth> {
  const { database, version, dataDir, embeddings, readBackupState } = parts
  const [{ rows }, { bavail, bsize }] = await Promise.all([
    database.serviceStatement<Counts>(
      `select pg_database_size(current_database()) as database_bytes,
         (select count(*)::integer from replies where state = 'queued') as questions_waiting,
         (select count(*)::integer from documents where state in ('queued', 'reading')) as documents_waiting`,
      [],
    ),
    statfs(dataDir),
  ])
  const backup = readBackupState?.()
  return {
    version,
    database_bytes: Number(rows[0]?.database_bytes ?? 0),
    disk_free_bytes: bavail * bsize,
    questions_waiting: rows[0]?.questions_waiting ?? 0,
    documents_waiting: rows[0]?.documents_waiting ?? 0,
    has_backups: backup !== undefined,
    backup_age_s: backup !== undefined && Number.isFinite(backup.ageS) ? Math.round(backup.ageS) : null,
    backup_failed: backup?.hasFailed ?? false,
    embeddings,
  }
}

export async function describeInstallation(parts: InstallationParts): Promise<Installation> {
  const { settings, providers, modelOffers } = parts
  const [health, list] = await Promise.all([describeHealth(parts), modelOffers.list()])
  return {
    settings: settings.rules.map(({ name, explains, fixed }) => ({
      name,
      explains,
      value: settings.textOf(name),
      is_fixed: fixed !== undefined,
      is_changed: settings.isChanged(name),
    })),
    health,
    models: { providers: [...providers], list, are_fixed: modelOffers.areFixed },
  }
}
