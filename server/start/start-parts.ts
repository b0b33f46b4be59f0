/** Starts all parts that need the database, and mounts their routes. */
import { statfsSync } from 'node:fs'
import { getRequestListener } from '@hono/node-server'
import type { Tokens } from '#server/access/tokens.ts'
import { createApp } from '#server/app.ts'
import type { DeliverEarly } from '#server/assistant/reply/reply-log.ts'
import { countUncaughtErrors } from '#server/base/failure-scope.ts'
import { withReusedBuffers } from '#server/blobs/send.ts'
import { createDeletedReclaim, reclaimDeleted } from '#server/database/reclaim-deleted.ts'
import { createAccountDataDeletion } from './delete-account-data.ts'
import type { Foundation, Gauges } from './foundation.ts'
import { openFoundation, type FoundationOptions } from './open-foundation.ts'
import { createOperationsRoutes } from './operations.ts'
import { type SpaceMails, startProduct } from './start-product.ts'
import { scheduleBackups } from './scheduled-backups.ts'
import { startServices } from './start-services.ts'

type Product = Awaited<ReturnType<typeof startProduct>>
type Services = Awaited<ReturnType<typeof startServices>>

export async function startParts(options: FoundationOptions) {
  const { config, log, address, connections } = options
  const { foundation, signing } = await openFoundation(options)
  // Workers may write answers before realtime has started.
  let deliverEarly: DeliverEarly = () => undefined
  let spaceMails: SpaceMails = { sendInvitation: () => Promise.resolve(), sendReceipt: () => Promise.resolve() }
  const hasProduct = config.ALCOVE_PARTS.has('api') || config.ALCOVE_PARTS.has('workers')
  const product = hasProduct
    ? await startProduct(foundation, {
        deliverEarly: (broadcast) => deliverEarly(broadcast),
        spaceMails: {
          sendInvitation: (mail) => spaceMails.sendInvitation(mail),
          sendReceipt: (mail) => spaceMails.sendReceipt(mail),
        },
      })
    : undefined
  const services =
    signing && config.ALCOVE_PARTS.has('services')
      ? await startServices(foundation, signing, {
          closing: hasProduct ? createAccountDataDeletion(foundation) : undefined,
          reclaimDeleted: openReclaim(options),
          onDocumentUpload: product?.onDocumentUpload,
          findRoom: product?.findRoom,
          directDispatch: product?.directDispatch,
        })
      : undefined
  if (services) ({ deliverEarly, spaceMails } = services)

  const backups = await scheduleBackups(foundation)
  const operations = createOperations(foundation, signing, product, services, {
    ...backups,
    alcove_disk_free_bytes: {
      help: 'Bytes that are free on the disk of DATA_DIR. Below DISK_MARGIN_MB files are refused.',
      read: () => readFreeBytesNow(config.DATA_DIR),
    },
    alcove_database_accepted_ms: {
      help: 'Milliseconds that PostgreSQL took to accept a connection at the start.',
      read: () => connections.databaseAcceptedAfterMs,
    },
  })
  const app = createApp(
    { operations, services: services?.edges, product: product?.edges },
    {
      tokens: foundation.tokens,
      takeTurn: foundation.takeTurn,
      unsentAnswers: foundation.unsentAnswers,
      log,
      address,
      trustProxy: config.TRUST_PROXY,
    },
  )
  return {
    handle: getRequestListener(withReusedBuffers(app.fetch, log)),
    handleUpgrade: services?.handleUpgrade,
    testAccount: services?.testAccount ?? null,
    routes: app.routes,
  }
}

/** Only the embedded database is ours to vacuum. */
function openReclaim({ config, log, undo, connections }: FoundationOptions): (() => void) | undefined {
  if (config.DATABASE_URL !== undefined) return undefined
  const reclaim = createDeletedReclaim(() => reclaimDeleted(connections.admin), log)
  undo.push(() => reclaim.stop())
  return () => reclaim.request()
}

function readFreeBytesNow(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

function createOperations(
  { config, database, unsentAnswers }: Foundation,
  signing: Tokens | undefined,
  product: Product | undefined,
  services: Services | undefined,
  gauges: Gauges,
) {
  return createOperationsRoutes({
    database,
    anonKey: signing?.anonKey ?? config.SUPABASE_ANON_KEY ?? '',
    publicUrl: config.SUPABASE_URL ?? config.PUBLIC_URL,
    metricsToken: config.METRICS_TOKEN,
    hasNoProxy: config.hasNoProxy,
    testAccount: services?.testAccount ?? null,
    requiresSecondFactor: config.AUTH_REQUIRE_AAL2,
    hasTextMessages: config.AUTH_SMS_WEBHOOK !== undefined,
    hasPublicLinks: config.PUBLIC_LINKS,
    hasMailbox: services?.hasMailbox ?? false,
    gauges: {
      ...product?.gauges,
      ...services?.gauges,
      alcove_unsent_bytes: {
        help: 'Bytes of large answers that clients have not read yet.',
        read: unsentAnswers.bytes,
      },
      alcove_uncaught_errors: {
        help: 'Errors since the start that nothing caught; each is logged.',
        read: countUncaughtErrors,
      },
      ...gauges,
    },
  })
}
