/**
 * Sends spans and metrics to an OTLP/HTTP collector. Loaded only where one is set. Spans hold kinds, names, durations, the id of
 * the request in the log, and statements of the server itself; no texts, addresses or values of people.
 * Protocol: https://opentelemetry.io/docs/specs/otlp/
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { type Operation, type OperationKind, operations, phases } from '#server/base/tracing.ts'
import type { Gauges } from './gauges.ts'
import { DURATION_BUCKETS, DURATIONS, PHASES, SUMS } from './instruments.ts'
import { outcomeOf, subscribe } from './subscribe.ts'

export interface OpenTelemetryOptions {
  /** Base address; `/v1/traces` and `/v1/metrics` are added. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  readonly version: string
  /** Share of traces that are sent, 0 to 1. */
  readonly sampledShare: number
  readonly gauges: Gauges
}

/** Characters, of statements above all. */
const LONGEST_ATTRIBUTE = 500
const METRICS_INTERVAL_MS = 60_000
const EXPORT_TIMEOUT_MS = 10_000
/** A collector that does not answer must not hold up the end of the process. */
const LAST_EXPORT_MS = 2_000

const KINDS: Readonly<Partial<Record<OperationKind, SpanKind>>> = {
  request: SpanKind.SERVER,
  statement: SpanKind.CLIENT,
  model: SpanKind.CLIENT,
  job: SpanKind.CONSUMER,
}

/** Returns the function that sends the rest and stops. */
export function startOpenTelemetry(options: OpenTelemetryOptions): () => Promise<void> {
  const { endpoint, headers, serviceName, version, sampledShare, gauges } = options
  const resource = resourceFromAttributes({ 'service.name': serviceName, 'service.version': version })
  const exporterOf = (signal: 'traces' | 'metrics') => ({
    url: `${endpoint.replace(/\/+$/, '')}/v1/${signal}`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  })
  const tracers = new TracerProvider({
    resource,
    spanLimits: { attributeValueLengthLimit: LONGEST_ATTRIBUTE },
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampledShare) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(exporterOf('traces')) })],
  })
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(exporterOf('metrics')),
        exportIntervalMillis: METRICS_INTERVAL_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  })
  const stop = [traceOperations(tracers), recordMetrics(meters, gauges)]
  return async function sendRestAndStop() {
    for (const end of stop) end()
    const sent = Promise.allSettled([tracers.shutdown(), meters.shutdown()])
    const timeout = new Promise((resolve) => setTimeout(resolve, LAST_EXPORT_MS).unref())
    await Promise.race([sent, timeout])
  }
}

function traceOperations(tracers: TracerProvider): () => void {
  const tracer = tracers.getTracer('alcove')
  const current = new AsyncLocalStorage<Context>()
  const spans = new WeakMap<Operation, Span>()

  function begin(operation: Operation): Context {
    const { kind, name, attributes, requestId } = operation
    const parent = current.getStore() ?? ROOT_CONTEXT
    const span = tracer.startSpan(`${kind} ${name}`, { kind: KINDS[kind] ?? SpanKind.INTERNAL, attributes }, parent)
    if (requestId !== undefined) span.setAttribute('alcove.request.id', requestId)
    spans.set(operation, span)
    return trace.setSpan(parent, span)
  }

  const listeners = {
    start: () => undefined,
    end: () => undefined,
    asyncStart: () => undefined,
    error: () => undefined,
    asyncEnd(operation: Operation) {
      const span = spans.get(operation)
      span?.setAttributes(operation.attributes)
      if (outcomeOf(operation) === 'failed') span?.setStatus({ code: SpanStatusCode.ERROR })
      span?.end()
    },
  }
  operations.start.bindStore(current, begin)
  operations.subscribe(listeners)
  const unsubscribe = phases.subscribe(({ name, ms }) => {
    const startTime = Date.now() - ms
    tracer.startSpan(`phase ${name}`, { startTime }, current.getStore() ?? ROOT_CONTEXT).end()
  })
  return () => {
    operations.start.unbindStore(current)
    operations.unsubscribe(listeners)
    unsubscribe()
  }
}

function recordMetrics(meters: MeterProvider, gauges: Gauges): () => void {
  const meter = meters.getMeter('alcove')
  const histogramOf = (name: string, description: string) =>
    meter.createHistogram(name, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: [...DURATION_BUCKETS] },
    })
  const durations = new Map(
    Object.entries(DURATIONS).map(([kind, { name, help, label }]) => [
      kind,
      { label, histogram: histogramOf(name, help) },
    ]),
  )
  const phaseDurations = histogramOf(PHASES.name, PHASES.help)
  const sums = new Map(
    Object.entries(SUMS).map(([key, { name, help }]) => [key, meter.createCounter(name, { description: help })]),
  )
  for (const [name, { help, read, isCounter = false }] of Object.entries(gauges)) {
    const description = { description: help }
    const instrument = isCounter
      ? meter.createObservableCounter(name, description)
      : meter.createObservableGauge(name, description)
    instrument.addCallback((result) => result.observe(read()))
  }
  return subscribe({
    onEnd(operation, seconds) {
      const measured = durations.get(operation.kind)
      measured?.histogram.record(seconds, { [measured.label]: operation.name, outcome: outcomeOf(operation) })
    },
    onPhase: ({ name, ms }) => phaseDurations.record(ms / 1000, { [PHASES.label]: name }),
    onAddition: ({ name, labels, value }) => sums.get(name)?.add(value, { ...labels }),
  })
}
