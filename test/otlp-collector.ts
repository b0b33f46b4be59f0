/** Stands for an OpenTelemetry collector that takes OTLP over HTTP as JSON, and holds what it was sent. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

const attributes = z
  .array(
    z.object({
      key: z.string(),
      value: z
        .object({ stringValue: z.string(), intValue: z.unknown(), doubleValue: z.number(), boolValue: z.boolean() })
        .partial(),
    }),
  )
  .default([])
  .transform((list) =>
    Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue])),
  )
const resource = z.object({ attributes })

export const collectedSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  status: z.object({ code: z.number().default(0) }).prefault({}),
  attributes,
})
export type CollectedSpan = z.infer<typeof collectedSpan>

const traces = z.object({
  resourceSpans: z.array(z.object({ resource, scopeSpans: z.array(z.object({ spans: z.array(collectedSpan) })) })),
})
const metrics = z.object({
  resourceMetrics: z.array(
    z.object({ resource, scopeMetrics: z.array(z.object({ metrics: z.array(z.looseObject({ name: z.string() })) })) }),
  ),
})

export interface OtlpCollector {
  readonly url: string
  readonly spans: CollectedSpan[]
  readonly metricNames: Set<string>
  readonly services: Set<unknown>
  readonly headers: IncomingHttpHeaders[]
  /** All bodies as they came. */
  readonly text: () => string
  readonly stop: () => void
}

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  const [metricNames, services, headers] = [new Set<string>(), new Set<unknown>(), [] as IncomingHttpHeaders[]]
  const bodies: unknown[] = []
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = await json(request)
    headers.push(request.headers)
    bodies.push(body)
    if (request.url === '/v1/traces')
      for (const sent of traces.parse(body).resourceSpans) {
        services.add(sent.resource.attributes['service.name'])
        spans.push(...sent.scopeSpans.flatMap((scope) => scope.spans))
      }
    else if (request.url === '/v1/metrics')
      for (const sent of metrics.parse(body).resourceMetrics) {
        services.add(sent.resource.attributes['service.name'])
        for (const { name } of sent.scopeMetrics.flatMap((scope) => scope.metrics)) metricNames.add(name)
      }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }
  const server = createServer((request, response) => void receive(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metricNames,
    services,
    headers,
    text: () => JSON.stringify(bodies),
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
