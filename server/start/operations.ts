/** Public routes: health, metrics, and the configuration of the page. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type Context, Hono } from 'hono'
import type { PublicConfig } from '#contract/auth.ts'
import type { Log } from '#server/base/log.ts'
import { isLocalRequest } from '#server/access/local-request.ts'
import type { Database } from '#server/database/scope.ts'
import type { Gauges, Queue } from '#server/telemetry/gauges.ts'

interface OperationsOptions {
  readonly database: Database
  readonly anonKey: string
  readonly publicUrl: string | undefined
  /** Undefined: only requests of this machine may read the metrics, if any may. */
  readonly metricsToken: string | undefined
  readonly hasNoProxy: boolean
  readonly testAccount: PublicConfig['testAccount']
  readonly requiresSecondFactor: boolean
  readonly hasTextMessages: boolean
  readonly hasPublicLinks: boolean
  readonly hasMailbox: boolean
  readonly gauges: Gauges
  readonly readQueues: () => Promise<readonly Queue[]>
  readonly log: Log
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Digests have one length, so the time tells neither the length nor the characters. */
function bringsToken(context: Context, token: string): boolean {
  const brought = /^Bearer +(\S+) *$/i.exec(context.req.header('authorization') ?? '')?.[1]
  return brought !== undefined && timingSafeEqual(digest(brought), digest(token))
}

export function createOperationsRoutes(options: OperationsOptions) {
  const { database, anonKey, publicUrl, metricsToken, hasNoProxy, testAccount, hasMailbox, gauges, readQueues, log } =
    options
  const { requiresSecondFactor, hasTextMessages, hasPublicLinks } = options
  const routes = new Hono()
  let metrics: Promise<() => Promise<string>> | undefined

  /** Loads with the first scrape to keep the start fast. */
  async function loadMetrics(): Promise<() => Promise<string>> {
    const { startPrometheus } = await import('#server/telemetry/prometheus.ts')
    return startPrometheus({ gauges, readQueues, log })
  }

  routes.get('/healthz', async (context) => {
    await database.asService((scope) => scope.query('select'))
    return context.json({ status: 'ok' })
  })

  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  routes.get('/config.json', (context) => {
    const isLocal = isLocalRequest(context)
    const config: PublicConfig = {
      supabaseUrl: publicUrl ?? new URL(context.req.url).origin,
      supabaseAnonKey: anonKey,
      testAccount: isLocal ? testAccount : null,
      mailbox: isLocal && hasMailbox ? '/mailbox.json' : null,
      requiresSecondFactor,
      hasTextMessages,
      hasPublicLinks,
      timeZone,
    }
    return context.json(config, 200, { 'cache-control': 'no-store' })
  })

  routes.get('/metrics', async (context) => {
    if (metricsToken === undefined) {
      if (!hasNoProxy || !isLocalRequest(context)) return context.notFound()
    } else if (!bringsToken(context, metricsToken)) {
      return context.text('GET /metrics wants METRICS_TOKEN as a bearer token.\n', 401, {
        'www-authenticate': 'Bearer realm="metrics"',
      })
    }
    metrics ??= loadMetrics().catch((error: unknown) => {
      metrics = undefined
      throw error
    })
    return context.text(await (await metrics)())
  })

  return routes
}
