/** Public routes: health, metrics, and the configuration of the page. */
import { Hono } from 'hono'
import type { PublicConfig } from '#contract/auth.ts'
import { isLocalRequest } from '#server/access/local-request.ts'
import type { Database } from '#server/database/scope.ts'
import type { Gauges } from './foundation.ts'

interface OperationsOptions {
  readonly database: Database
  readonly anonKey: string
  readonly publicUrl: string | undefined
  readonly metricsFor: 'loopback' | 'everyone'
  readonly testAccount: PublicConfig['testAccount']
  readonly requiresSecondFactor: boolean
  readonly hasTextMessages: boolean
  readonly hasMailbox: boolean
  readonly gauges: Gauges
}

export function createOperationsRoutes(options: OperationsOptions) {
  const { database, anonKey, publicUrl, metricsFor, testAccount, hasMailbox, gauges } = options
  const { requiresSecondFactor, hasTextMessages } = options
  const routes = new Hono()
  let metrics: Promise<() => Promise<string>> | undefined

  /** Loads with the first scrape to keep the start fast. */
  async function loadMetrics(): Promise<() => Promise<string>> {
    const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client')
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    for (const [name, { help, read }] of Object.entries(gauges)) {
      new Gauge({ name, help, registers: [registry], collect() { this.set(read()) } }) // prettier-ignore
    }
    return () => registry.metrics()
  }

  routes.get('/healthz', async (context) => {
    await database.asService((scope) => scope.query('select'))
    return context.json({ status: 'ok' })
  })

  routes.get('/config.json', (context) => {
    const isLocal = isLocalRequest(context)
    const config: PublicConfig = {
      supabaseUrl: publicUrl ?? new URL(context.req.url).origin,
      supabaseAnonKey: anonKey,
      testAccount: isLocal ? testAccount : null,
      mailbox: isLocal && hasMailbox ? '/mailbox.json' : null,
      requiresSecondFactor,
      hasTextMessages,
    }
    return context.json(config, 200, { 'cache-control': 'no-store' })
  })

  routes.get('/metrics', async (context) => {
    if (metricsFor === 'loopback' && !isLocalRequest(context)) return context.notFound()
    metrics ??= loadMetrics()
    return context.text(await (await metrics)())
  })

  return routes
}
