import { openAccessWatch } from '#server/access/access-watch.ts'
import { sessionCookieOf } from '#server/access/authenticate.ts'
import { identifyCallers } from '#server/access/identify-callers.ts'
import { isSessionOpen, requireOpenSessions } from '#server/access/open-sessions.ts'
import { acceptProject, acceptSharedSecret } from '#server/access/other-issuers.ts'
import { takeTurns } from '#server/access/request-turns.ts'
import { createTokens, type Tokens } from '#server/access/tokens.ts'
import { createUnsentAnswers } from '#server/access/unsent-answers.ts'
import type { Log } from '#server/base/log.ts'
import { openBlobStore } from '#server/blobs/open-blob-store.ts'
import { refuseOnFullDisk } from '#server/blobs/refuse-on-full-disk.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Config } from '#server/config.ts'
import { openListener } from '#server/database/listen.ts'
import type { Nats } from '#server/database/nats.ts'
import { openDatabase } from '#server/database/open-database.ts'
import { installJobs } from '#server/jobs/install.ts'
import type { Connections } from './connect.ts'
import type { Foundation } from './foundation.ts'

const BYTES_PER_MB = 1_000_000

export type FoundationOptions = Pick<
  Foundation,
  'config' | 'log' | 'undo' | 'address' | 'backgroundThrottle' | 'startEnded'
> & { readonly connections: Connections }

/** @returns also the issuer of tokens, unless a Supabase project issues them. */
export async function openFoundation({
  connections: { admin, server: connection, secrets, encryptionKey, onListening },
  ...options
}: FoundationOptions): Promise<{ foundation: Foundation; signing: Tokens | undefined }> {
  const { config, log, undo } = options
  if (config.ALCOVE_PARTS.has('api') || config.ALCOVE_PARTS.has('workers')) await installJobs(admin)
  const signing = secrets && (await createTokens(secrets))
  const nats = await openBus(config, encryptionKey, log)
  if (nats) undo.push(() => nats.close())
  const { database, background, batchReader, running, close } = openDatabase(connection, log, nats)
  undo.push(close)
  const notified = await openListener(connection, log)
  undo.push(() => notified.close())
  await onListening(notified)
  const listener = nats?.combineWith(notified) ?? notified
  const issued = signing
    ? await requireOpenSessions(signing, database, listener, { everyoneHasFactor: config.AUTH_REQUIRE_AAL2 })
    : acceptProject(config.SUPABASE_URL ?? '')
  const accessWatch = await openAccessWatch(listener, (id) => isSessionOpen(background, id), running, log)
  undo.push(() => accessWatch.stop())
  const unsentAnswers = createUnsentAnswers({}, accessWatch)
  const tokens = identifyCallers(acceptSharedSecret(issued, config.JWT_SECRET), unsentAnswers)
  const foundation: Foundation = {
    ...options,
    connection,
    database,
    background,
    batchReader,
    listener,
    notifier: nats,
    tokens,
    takeTurn: takeTurns(tokens, { sessionCookie: sessionCookieOf(options.address) }),
    accessWatch,
    unsentAnswers,
    blobs: await openGuardedStore(config),
    encryptionKey,
  }
  return { foundation, signing }
}

/** Without files or a database below DATA_DIR its disk does not matter. */
async function openGuardedStore(config: Config): Promise<BlobStore> {
  const store = await openBlobStore(config)
  const isElsewhere = config.DATABASE_URL !== undefined && config.S3_ENDPOINT !== undefined
  if (isElsewhere || config.DISK_MARGIN_MB === 0) return store
  return refuseOnFullDisk(store, { folder: config.DATA_DIR, marginBytes: config.DISK_MARGIN_MB * BYTES_PER_MB })
}

async function openBus({ NATS_URL: urls }: Config, key: Buffer, log: Log): Promise<Nats | undefined> {
  if (urls === undefined) return undefined
  const { openNats } = await import('#server/database/nats.ts')
  return openNats({ urls, key, log })
}
