/** Metrics for a scraper. Durations and sums count from the first scrape on, so a server that is not scraped measures nothing. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Log } from '#server/base/log.ts'
import { type Gauges, type Queue, QUEUE_FIGURES } from './gauges.ts'
import { DURATION_BUCKETS, DURATIONS, type Instrument, PHASES, SUMS } from './instruments.ts'
import { outcomeOf, subscribe } from './subscribe.ts'

interface PrometheusOptions {
  readonly gauges: Gauges
  readonly readQueues: () => Promise<readonly Queue[]>
  readonly log: Log
}

const underscored = (name: string): string => name.replaceAll('.', '_')

/** Returns the function that writes the metrics in Prometheus's text format. */
export function startPrometheus({ gauges, readQueues, log }: PrometheusOptions): () => Promise<string> {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  for (const [name, { help, read, isCounter = false }] of Object.entries(gauges)) {
    if (isCounter)
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(read())
        },
      })
    else new Gauge({ name, help, registers, collect() { this.set(read()) } }) // prettier-ignore
  }
  const queues = Object.entries(QUEUE_FIGURES).map(([name, { help, figure }]) => ({
    gauge: new Gauge({ name, help, labelNames: ['queue'], registers }),
    figure,
  }))

  const unread = new Gauge({
    name: 'alcove_queues_unread',
    help: 'Whether the database did not tell its queues at this scrape: 0 or 1.',
    registers,
  })

  const histogramOf = ({ name, help, label }: Instrument, labels: readonly string[] = []) =>
    new Histogram({
      name: `${underscored(name)}_seconds`,
      help: `Duration of ${help}.`,
      labelNames: [label, ...labels],
      buckets: [...DURATION_BUCKETS],
      registers,
    })
  const durations = new Map(
    Object.entries(DURATIONS).map(([kind, instrument]) => [
      kind,
      { label: instrument.label, histogram: histogramOf(instrument, ['outcome']) },
    ]),
  )
  const phases = histogramOf(PHASES)
  const sums = new Map(
    Object.entries(SUMS).map(([key, { name, help, label }]) => [
      key,
      new Counter({ name: `${underscored(name)}_total`, help: `Number of ${help}.`, labelNames: [label], registers }),
    ]),
  )
  subscribe({
    onEnd(operation, seconds) {
      const measured = durations.get(operation.kind)
      measured?.histogram.observe({ [measured.label]: operation.name, outcome: outcomeOf(operation) }, seconds)
    },
    onPhase: ({ name, ms }) => phases.observe({ [PHASES.label]: name }, ms / 1000),
    onAddition: ({ name, labels, value }) => sums.get(name)?.inc({ ...labels }, value),
  })

  return async function writeMetrics() {
    // The figures of the process are needed most while the database is away.
    const found = await readQueues().catch((error: unknown) => {
      log.debug({ err: error }, 'the queues could not be read for the metrics')
      return undefined
    })
    unread.set(found === undefined ? 1 : 0)
    for (const { gauge, figure } of queues) {
      gauge.reset()
      for (const queue of found ?? []) gauge.set({ queue: queue.queue }, queue[figure])
    }
    return registry.metrics()
  }
}
