/** Dependencies that all parts of a process share. */
import type { MiddlewareHandler } from 'hono'
import type pg from 'pg'
import type { AccessWatch } from '#server/access/access-watch.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import type { UnsentAnswers } from '#server/access/unsent-answers.ts'
import type { BackgroundThrottle } from '#server/base/background-throttling.ts'
import type { Log } from '#server/base/log.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Config } from '#server/config.ts'
import type { BatchReader } from '#server/database/batch-reader.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Notifier } from '#server/database/notifications.ts'
import type { Database } from '#server/database/scope.ts'
import type { Undo } from './connect.ts'

export interface Foundation {
  readonly config: Config
  readonly log: Log
  /** Steps that stop the process, called in reverse order. */
  readonly undo: Undo[]
  readonly address: string
  readonly connection: pg.PoolConfig
  readonly database: Database
  /** For workers and reads that requests share: not limited per caller. */
  readonly background: Database
  /** Settles when the start has succeeded or failed. Work that may wait loads its modules afterwards. */
  readonly startEnded: Promise<unknown>
  readonly batchReader: BatchReader
  readonly listener: Listener
  /** The message bus between servers; undefined where PostgreSQL notifies them. */
  readonly notifier: Notifier | undefined
  /** Also rejects tokens of ended sessions. */
  readonly tokens: TokenVerifier
  /** Limits the requests of each caller. Each service mounts it, so that it refuses with its own errors. */
  readonly takeTurn: MiddlewareHandler
  readonly accessWatch: AccessWatch
  readonly unsentAnswers: UnsentAnswers
  readonly blobs: BlobStore
  readonly backgroundThrottle: BackgroundThrottle
  /** AES-256 key for keys and tokens of people. */
  readonly encryptionKey: Buffer
}
