/** What every part of a process stands on, whichever of them it runs. */
import type pg from 'pg'
import { type TokenVerifier } from '#server/access/tokens.ts'
import { type BackgroundThrottle } from '#server/base/background-throttling.ts'
import { type Log } from '#server/base/log.ts'
import { type BlobStore } from '#server/blobs/store.ts'
import { type Config } from '#server/config.ts'
import { type BatchReader } from '#server/database/batch-reader.ts'
import { type Listener } from '#server/database/listen.ts'
import { type Notifier } from '#server/database/notifications.ts'
import { type Database } from '#server/database/scope.ts'
import { type Undo } from './connect.ts'

export interface Foundation {
  readonly config: Config
  readonly log: Log
  /** How to end what is begun, in order; called from the last to the first. */
  readonly undo: Undo[]
  /** Where people reach this server. */
  readonly address: string
  /** The role that the server works as. */
  readonly connection: pg.PoolConfig
  readonly database: Database
  /** For realtime. */
  readonly batchReader: BatchReader
  readonly listener: Listener
  /** The message bus between servers; undefined where PostgreSQL notifies them. */
  readonly notifier: Notifier | undefined
  /** Refuses tokens of ended sessions too. */
  readonly tokens: TokenVerifier
  readonly blobs: BlobStore
  /** Of whoever waits for an answer, before what is read in the background. */
  readonly backgroundThrottle: BackgroundThrottle
  /** AES-256 key for what people entrust to us. */
  readonly encryptionKey: Buffer
}

/** A figure of this process, read when it is asked for. */
export type Gauges = Readonly<Record<string, { readonly help: string; readonly read: () => number }>>
