/**
 * Delivers recorded changes in commit order for each row, but not over all rows: a transaction takes part with one page at
 * a time, and the changes of others pass it. Otherwise one statement over many rows would delay everybody's live changes.
 */
import type { Change } from './outbox.ts'

/** Single changes that are delivered together. */
const MAX_SINGLES = 500

export interface RecordedChange extends Change {
  readonly xid: string
}

/** The changes of a transaction, or of several small ones together, that are not delivered yet. */
export interface Ahead {
  readonly xids: readonly string[]
  /** The id after which the next page begins. */
  readonly after: string
}

export interface Page {
  readonly changes: readonly RecordedChange[]
  /** The id after which the next page begins; undefined after the last page. */
  readonly next: string | undefined
}

export interface Conflict {
  /** Ids of changes of one row. */
  readonly ids: readonly string[]
  /** Index of the first transaction that has changes of this row ahead. */
  readonly index: number
  /** Id of the last of them. */
  readonly until: string
}

export interface ChangeQueueOptions<Control> {
  /** Called when everything before `control` is done. */
  readonly handle: (control: Control) => Promise<void>
  readonly deliver: (changes: readonly RecordedChange[]) => Promise<void>
  /** Undefined if the transaction cannot be read. */
  readonly readPage: (transaction: Ahead) => Promise<Page | undefined>
  /** Undefined if it is unknown. */
  readonly findConflicts: (
    changes: readonly RecordedChange[],
    transactions: readonly Ahead[],
  ) => Promise<readonly Conflict[] | undefined>
}

interface Transaction extends Ahead {
  /** Increases in commit order. */
  readonly place: number
  after: string
  isDone: boolean
  /** Number of the step that delivered its last page; 0 before the first. */
  lastStep: number
  wait?: Wait | undefined
}

interface Single {
  readonly place: number
  readonly change: RecordedChange
  wait?: Wait | undefined
}

interface ControlEntry<Control> {
  readonly place: number
  readonly control: Control
  /** Nothing behind a barrier is delivered before it is handled. */
  readonly isBarrier: boolean
}

interface Wait {
  readonly transaction: Transaction
  /** Undefined: until the transaction is done. */
  readonly until: string | undefined
}

const isWaiting = ({ wait }: Single | Transaction): boolean =>
  wait !== undefined &&
  !wait.transaction.isDone &&
  (wait.until === undefined || BigInt(wait.transaction.after) < BigInt(wait.until))

/** Returns the longest wait for the first transaction that is waited for. */
function longestOf(waits: Iterable<Wait>): Wait | undefined {
  return [...waits].reduce<Wait | undefined>((longest, wait) => {
    if (!longest) return wait
    const places = wait.transaction.place - longest.transaction.place
    if (places !== 0) return places < 0 ? wait : longest
    return BigInt(wait.until ?? 0) > BigInt(longest.until ?? 0) ? wait : longest
  }, undefined)
}

export interface ChangeQueue<Control> {
  readonly isEmpty: boolean
  addChange(change: RecordedChange): void
  addTransaction(xids: readonly string[]): void
  addControl(control: Control, options: { readonly isBarrier: boolean }): void
  /** Handles the control at the front; otherwise delivers single changes, and then one page. */
  readonly step: () => Promise<void>
}

export function createChangeQueue<Control>(options: ChangeQueueOptions<Control>): ChangeQueue<Control> {
  const { handle, deliver, readPage, findConflicts } = options
  /** In commit order. */
  let entries: (Single | Transaction | ControlEntry<Control>)[] = []
  let places = 0
  let steps = 0
  let wasFirstPage = false

  /** Returns the place before which every single change is delivered or waits. */
  async function deliverSingles(): Promise<number> {
    const { singles, duplicates, transactions, end } = collectSingles()
    const lastPlace = singles.at(-1)?.place ?? 0
    const waits = await findWaits(
      singles,
      transactions.filter(({ place }) => place < lastPlace),
    )
    for (const single of singles) single.wait = waits.get(single.change.id)
    const free = singles.filter(({ wait }) => !wait)
    const done = new Set<unknown>([...free, ...duplicates])
    if (done.size > 0) entries = entries.filter((entry) => !done.has(entry))
    if (free.length > 0) await deliver(free.map(({ change }) => change))
    return end
  }

  function collectSingles() {
    const singles: Single[] = []
    const duplicates: Single[] = []
    const transactions: Transaction[] = []
    const xids = new Set<string>()
    for (const entry of entries) {
      if ('control' in entry) {
        if (entry.isBarrier) return { singles, duplicates, transactions, end: entry.place }
      } else if ('xids' in entry) {
        transactions.push(entry)
        for (const xid of entry.xids) xids.add(xid)
      } else if (xids.has(entry.change.xid)) duplicates.push(entry)
      else if (!isWaiting(entry)) {
        if (singles.length === MAX_SINGLES) return { singles, duplicates, transactions, end: entry.place }
        singles.push(entry)
      }
    }
    return { singles, duplicates, transactions, end: places + 1 }
  }

  /** Returns the waits by id of the change. */
  async function findWaits(
    singles: readonly { readonly place: number; readonly change: RecordedChange }[],
    transactions: readonly Transaction[],
  ): Promise<ReadonlyMap<string, Wait>> {
    const waits = new Map<string, Wait>()
    const [first] = transactions
    const behind = first ? singles.filter(({ place }) => place > first.place) : []
    if (behind.length === 0) return waits
    const placeOf = new Map(behind.map(({ place, change }) => [change.id, place]))
    const conflicts = await findConflicts(
      behind.map(({ change }) => change),
      transactions,
    )
    if (!conflicts) {
      for (const [id, place] of placeOf) {
        const transaction = transactions.findLast((earlier) => earlier.place < place)
        if (transaction) waits.set(id, { transaction, until: undefined })
      }
      return waits
    }
    for (const { ids, index, until } of conflicts) {
      const transaction = transactions[index]
      for (const id of ids) {
        const place = placeOf.get(id)
        if (transaction && place !== undefined && transaction.place < place) waits.set(id, { transaction, until })
      }
    }
    return waits
  }

  async function deliverPage(end: number): Promise<void> {
    const transaction = nextTransaction(end)
    if (!transaction) return
    const page = await readPage(transaction)
    if (!page) return finish(transaction)
    const { place } = transaction
    const waits = await findWaits(
      page.changes.map((change) => ({ place, change })),
      transactionsBefore(place),
    )
    if (waits.size > 0 && transaction.xids.length > 1) return split(transaction, page, waits)
    wasFirstPage = transaction.lastStep === 0
    transaction.wait = longestOf(waits.values())
    if (transaction.wait) return
    transaction.lastStep = steps
    if (page.next === undefined) finish(transaction)
    else transaction.after = page.next
    if (page.changes.length > 0) await deliver(page.changes)
  }

  /**
   * First and further pages alternate, so that a new transaction waits for few pages however many are unfinished. Only
   * transactions before `end`: a page must not pass a single change of one of its rows.
   */
  function nextTransaction(end: number): Transaction | undefined {
    const ready = transactionsBefore(end).filter((transaction) => !isWaiting(transaction))
    const first = ready.find(({ lastStep }) => lastStep === 0)
    const [further] = ready.filter(({ lastStep }) => lastStep > 0).sort((a, b) => a.lastStep - b.lastStep)
    return wasFirstPage ? (further ?? first) : (first ?? further)
  }

  const transactionsBefore = (end: number) =>
    entries.filter((entry): entry is Transaction => 'xids' in entry && entry.place < end)

  /** Separates transactions that are read together, so that one does not make the others wait. */
  function split({ place, xids, after }: Transaction, { changes }: Page, waits: ReadonlyMap<string, Wait>): void {
    const parts = xids.map((xid, index): Transaction => {
      const ofPart = changes.flatMap((change) => (change.xid === xid ? (waits.get(change.id) ?? []) : []))
      const wait = longestOf(ofPart)
      return { place: place + index / xids.length, xids: [xid], after, isDone: false, lastStep: 0, wait }
    })
    entries = entries.flatMap((entry) => (entry.place === place ? parts : [entry]))
  }

  function finish(transaction: Transaction): void {
    transaction.isDone = true
    entries = entries.filter((entry) => entry !== transaction)
  }

  return {
    get isEmpty() {
      return entries.length === 0
    },
    addChange: (change) => entries.push({ place: (places += 1), change }),
    addTransaction: (xids) => entries.push({ place: (places += 1), xids, after: '0', isDone: false, lastStep: 0 }),
    addControl: (control, { isBarrier }) => entries.push({ place: (places += 1), control, isBarrier }),
    async step() {
      steps += 1
      const [first] = entries
      if (first && 'control' in first) {
        entries.shift()
        await handle(first.control)
      } else await deliverPage(await deliverSingles())
    },
  }
}
