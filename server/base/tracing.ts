/**
 * Announces the operations of the server, on a tracing channel of Node, to `telemetry/`: where a scraper or an exporter asks for
 * measurements, and only then. Names are of a bounded set; neither names nor attributes hold texts, addresses
 * or ids of people.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { currentRequestId } from './request-id.ts'

export type Attributes = Readonly<Record<string, string | number | boolean>>

/** `request` by service, `transaction` and `statement` by role, `job` by queue, `parse` by file type, `model` by purpose. */
export type OperationKind =
  'request' | 'transaction' | 'statement' | 'job' | 'parse' | 'index' | 'search' | 'model' | 'reply'

export interface Operation {
  readonly kind: OperationKind
  readonly name: string
  readonly attributes: Attributes
  /** Whether it failed without throwing. */
  readonly hasFailed?: boolean
  /** The id of the request that caused it. */
  readonly requestId: string | undefined
  /** Set by the channel when the operation rejects. */
  readonly error?: unknown
}

/** A part of an operation that has ended, in milliseconds. */
export interface Phase {
  readonly name: string
  readonly ms: number
}

/** An addition to a sum, such as the tokens that a model has written. */
export interface Addition {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export const operations = tracingChannel<unknown, Operation>('alcove:operation')
export const phases = createAnnouncements<Phase>()
export const additions = createAnnouncements<Addition>()

function createAnnouncements<T>() {
  const listeners = new Set<(message: T) => void>()
  return {
    publish(message: T): void {
      for (const listener of listeners) listener(message)
    },
    subscribe(listener: (message: T) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Changes what is told about the running operation. */
export type Describe = (change: Partial<Pick<Operation, 'name' | 'attributes' | 'hasFailed'>>) => void

const ignore: Describe = () => undefined

/** Runs an operation. Operations within `run` belong to it. Without subscribers it costs a comparison. */
export function traceOperation<T>(
  kind: OperationKind,
  name: string,
  run: (describe: Describe) => Promise<T>,
  attributes: Attributes = {},
): Promise<T> {
  if (!operations.hasSubscribers) return run(ignore)
  const operation = { kind, name, attributes, requestId: currentRequestId() }
  return operations.tracePromise(
    () =>
      run((change) => {
        Object.assign(operation, change, { attributes: { ...operation.attributes, ...change.attributes } })
      }),
    operation,
  )
}
