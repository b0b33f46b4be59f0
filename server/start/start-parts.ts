/** Starts all parts that need the database, and mounts their routes. */
import { statfsSync } from 'node:fs'
import { getRequestListener } from '@hono/node-server'
import type { Tokens } from '#server/access/tokens.ts'
import { createApp } from '#server/app.ts'
import type { DeliverEarly } from '#server/assistant/reply/reply-log.ts'
import { countUncaughtErrors } from '#server/base/failure-scope.ts'
import { withReusedBuffers } from '#server/blobs/send.ts'
import { createDeletedReclaim, reclaimDeleted } from '#server/database/reclaim-deleted.ts'
import { readReplyQueue } from '#server/assistant/queue/reply-queue.ts'
import { readJobQueues } from '#server/jobs/job-queues.ts'
import type { Gauges } from '#server/telemetry/gauges.ts'
import { createAccountDataDeletion } from './delete-account-data.ts'
import type { Foundation } from './foundation.ts'
import { openFoundation, type FoundationOptions } from './open-foundation.ts'
import { createOperationsRoutes } from './operations.ts'
import { openOperation } from './open-operation.ts'
import { openOperatorSettings, signupOf } from './operator-settings.ts'
import { readProductVersion } from './product-version.ts'
import { type SpaceMails, startProduct } from './start-product.ts'
import { scheduleBackups } from './scheduled-backups.ts'
import { startServices } from './start-services.ts'

type Services = Awaited<ReturnType<typeof startServices>>

export async function startParts(options: FoundationOptions) {
  const { config, log, address, connections } = options
  const { foundation, signing } = await openFoundation(options)
  // Workers may write answers before realtime has started.
  let deliverEarly: DeliverEarly = () => undefined
  let spaceMails: SpaceMails = { sendInvitation: () => Promise.resolve(), sendReceipt: () => Promise.resolve() }
  const operatorSettings = await openOperatorSettings(foundation)
  const hasProduct = config.ALCOVE_PARTS.has('api') || config.ALCOVE_PARTS.has('workers')
  const product = hasProduct
    ? await startProduct(foundation, {
        deliverEarly: (broadcast) => deliverEarly(broadcast),
        spaceMails: {
          sendInvitation: (mail) => spaceMails.sendInvitation(mail),
          sendReceipt: (mail) => spaceMails.sendReceipt(mail),
        },
        operatorSettings,
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
          readSignup: () => signupOf(operatorSettings),
        })
      : undefined
  if (services) ({ deliverEarly, spaceMails } = services)

  const backups = await scheduleBackups(foundation)
  const gauges: Gauges = {
    ...product?.gauges,
    ...services?.gauges,
    alcove_unsent_bytes: {
      help: 'Bytes of large answers that clients have not read yet.',
      read: foundation.unsentAnswers.bytes,
    },
    alcove_uncaught_errors: {
      help: 'Errors since the start that nothing caught; each is logged.',
      read: countUncaughtErrors,
    },
    ...backups?.gauges,
    alcove_disk_free_bytes: {
      help: 'Bytes that are free on the disk of DATA_DIR. Below DISK_MARGIN_MB files are refused.',
      read: () => readFreeBytesNow(config.DATA_DIR),
    },
    alcove_database_accepted_ms: {
      help: 'Milliseconds that PostgreSQL took to accept a connection at the start.',
      read: () => connections.databaseAcceptedAfterMs,
    },
  }
  await sendTelemetry(foundation, gauges)
  const operations = createOperations(foundation, signing, { services, gauges, hasQueues: hasProduct })
  const operation =
    services && product?.edges
      ? await openOperation(foundation, {
          operatorSettings,
          authService: services.authService,
          operated: product.operated,
          readBackupState: backups?.readState,
          hasTestAccount: services.testAccount !== null,
        })
      : undefined
  const app = createApp(
    {
      operations,
      services: services?.edges,
      product: product?.edges && {
        ...product.edges,
        api: [...(operation ? [operation.routes] : []), ...product.edges.api],
      },
      operatorPage: operation?.page,
    },
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
    operatorLink: operation?.link,
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

/** It ends after all others, whose last operations the collector gets too. */
async function sendTelemetry({ config, undo }: Foundation, gauges: Gauges): Promise<void> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT
  if (endpoint === undefined) return
  const { startOpenTelemetry } = await import('#server/telemetry/open-telemetry.ts')
  undo.unshift(
    startOpenTelemetry({
      endpoint,
      headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
      serviceName: config.OTEL_SERVICE_NAME,
      version: await readProductVersion(),
      sampledShare: config.OTEL_TRACES_SAMPLER_ARG,
      gauges,
    }),
  )
}

interface Monitored {
  readonly services: Services | undefined
  readonly gauges: Gauges
  /** Without the product there are no queues in the database. */
  readonly hasQueues: boolean
}

function createOperations(
  { config, database, background, log }: Foundation,
  signing: Tokens | undefined,
  { services, gauges, hasQueues }: Monitored,
) {
  const readQueues = async () =>
    background.asService(async (scope) => [...(await readJobQueues(scope)), ...(await readReplyQueue(scope))], {
      readOnly: true,
    })
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
    gauges,
    readQueues: hasQueues ? readQueues : () => Promise.resolve([]),
    log,
  })
}
