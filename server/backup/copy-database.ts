/** Copies a database into an empty one of another server, and compares all rows. */
import { createHash, hash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { AppError } from '#server/base/errors.ts'
import { requireKnownMigrations } from '#server/database/migrate.ts'
import { JOBS_SCHEMA, JOBS_SCHEMA_VERSION } from '#server/jobs/install.ts'
import { listUndescribed, namesOfMissing } from './list-undescribed.ts'
import { createSchema, loadRows, onClient } from './load-database.ts'
import { type Progress, reportEvery } from './progress.ts'
import { copyOut, describeDatabase, describeObjects, nameColumns, nameTable, type Table } from './snapshot.ts'

const LINE_FEED = 0x0a
const LANES = 8

/** Number and digest of rows, each one line of `COPY`. Their order does not count: PostgreSQL guarantees none. */
export class RowDigest {
  rows = 0
  /** Sums modulo 2^32 of the eight parts of the SHA-256 hashes of all rows. */
  readonly #sums = new Uint32Array(LANES)
  /** A row whose end has not come yet. */
  #begun: ReturnType<typeof createHash> | undefined

  add(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      const part = chunk.subarray(start, end)
      this.#addHash(this.#begun ? this.#begun.update(part).digest() : hash('sha256', part, 'buffer'))
      this.#begun = undefined
      start = end + 1
    }
    if (start < chunk.length) (this.#begun ??= createHash('sha256')).update(chunk.subarray(start))
  }

  #addHash(digest: Buffer): void {
    this.rows += 1
    for (let lane = 0; lane < LANES; lane += 1)
      this.#sums[lane] = (this.#sums[lane] ?? 0) + digest.readUInt32LE(lane * 4)
  }

  equals(other: RowDigest): boolean {
    return this.rows === other.rows && this.#sums.every((sum, lane) => sum === other.#sums[lane])
  }
}

/** @param onAdded is called after each chunk */
async function* digestInto(
  digest: RowDigest,
  chunks: AsyncIterable<Buffer>,
  onAdded: () => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    digest.add(chunk)
    onAdded()
    yield chunk
  }
}

export interface DatabaseCopy {
  readonly from: pg.ClientConfig
  /** An empty database. */
  readonly to: pg.ClientConfig
  readonly authenticatorPassword: string
  readonly progress: Progress
}

const firstLineOf = (statement: string): string => statement.split('\n')[0] ?? ''

const NAMES_SHOWN = 10

function requireNothingLeft(names: readonly string[]): void {
  if (names.length === 0) return
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
  throw new AppError('conflict', `This would be left behind: ${names.slice(0, NAMES_SHOWN).join(', ')}${more}.`)
}

/** @throws AppError `conflict` where something cannot be taken over, `startup` where the database is of a newer Alcove */
export async function copyDatabase({
  from,
  to,
  authenticatorPassword,
  progress,
}: DatabaseCopy): Promise<{ readonly tables: number; readonly rows: number }> {
  return onClient(from, async (source) => {
    await source.query('begin isolation level repeatable read, read only')
    const described = await describeDatabase(source)
    await requireKnownMigrations(described.migrations, 'database')
    const comparable = await describeObjects(source, [JOBS_SCHEMA])
    const hasSameJobs = described.jobsVersion === JOBS_SCHEMA_VERSION
    // Over the schema of another version of the job library, statements would leave a mixture of both.
    const content = { ...described, statements: hasSameJobs ? described.statements : comparable }
    const undescribed = await listUndescribed(source)
    const { notCreated, surplus } = await createSchema(to, {
      content,
      authenticatorPassword,
      onMigrated: async (target) => requireNothingLeft(namesOfMissing(undescribed, await listUndescribed(target))),
    })
    const own = new Set(comparable)
    for (const { statement, reason, isPresent } of notCreated) {
      const sentence = `${firstLineOf(statement)} (${reason})`
      if (!isPresent) throw new AppError('conflict', `This cannot be created: ${sentence}.`)
      if (own.has(statement)) throw new AppError('conflict', `This would be lost: ${sentence}.`)
      progress(`Left as this version defines it: ${sentence}`)
    }
    if (surplus[0] !== undefined)
      throw new AppError('conflict', `This was changed or removed, and would come back: ${firstLineOf(surplus[0])}.`)
    const digests = new Map<Table, RowDigest>()
    const report = reportEvery(progress)
    return onClient(to, async (target) => {
      const loaded = await loadRows(target, {
        content,
        holder: 'database',
        async load(table) {
          const digest = new RowDigest()
          digests.set(table, digest)
          const input = target.query(copyFrom(`copy ${nameTable(table)} ${nameColumns(table)} from stdin`))
          const rows = (chunks: AsyncIterable<Buffer>) =>
            digestInto(digest, chunks, () => report(() => `${digest.rows} rows copied of ${nameTable(table)}`))
          await pipeline(copyOut(source, table), rows, input)
        },
        progress,
      })
      await compare(target, digests, progress)
      await target.query('analyze')
      const rows = [...digests.values()].reduce((total, digest) => total + digest.rows, 0)
      return { tables: loaded.length, rows }
    })
  })
}

async function compare(target: pg.Client, digests: ReadonlyMap<Table, RowDigest>, progress: Progress): Promise<void> {
  const report = reportEvery(progress)
  for (const [table, digest] of digests) {
    const copied = new RowDigest()
    for await (const chunk of copyOut(target, table) as AsyncIterable<Buffer>) {
      copied.add(chunk)
      report(() => `${copied.rows} of ${digest.rows} rows compared of ${nameTable(table)}`)
    }
    if (!digest.equals(copied))
      throw new AppError(
        'conflict',
        `The table ${nameTable(table)} is not the same in both: ${digest.rows} rows became ${copied.rows}.`,
      )
  }
}
