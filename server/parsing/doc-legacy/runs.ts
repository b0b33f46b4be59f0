/** Formatting runs of a Word document (MS-DOC 2.9.33, 2.9.175). */
import { type Property, createView } from './properties.ts'

const BLOCK_BYTES = 512

export interface ByteRange {
  readonly from: number
  readonly to: number
}

export interface Run extends ByteRange {
  readonly style: number
  readonly properties: Uint8Array
}

type Formatting = Pick<Run, 'style' | 'properties'>

export function listRuns(
  document: Uint8Array,
  blocks: readonly number[],
  read: (block: Uint8Array, index: number, count: number) => Formatting,
): Run[] {
  const runs: Run[] = []
  for (const number of blocks) {
    const block = document.subarray(number * BLOCK_BYTES, (number + 1) * BLOCK_BYTES)
    if (block.length < BLOCK_BYTES) continue
    const view = createView(block)
    const count = block[BLOCK_BYTES - 1] ?? 0
    if ((count + 1) * 4 > BLOCK_BYTES - 1) continue
    for (let run = 0; run < count; run += 1)
      runs.push({
        from: view.getUint32(run * 4, true),
        to: view.getUint32(run * 4 + 4, true),
        ...read(block, run, count),
      })
  }
  return runs
}

const UNFORMATTED = { style: 0, properties: new Uint8Array() } as const

export function readCharacterRun(block: Uint8Array, index: number, count: number): Formatting {
  const at = 2 * (block[(count + 1) * 4 + index] ?? 0)
  return at === 0 ? UNFORMATTED : { style: 0, properties: block.subarray(at + 1, at + 1 + (block[at] ?? 0)) }
}

/** The property list follows the style number. @param entryBytes 13 since Word 97, 7 before. */
export const readParagraphRun =
  (entryBytes: number) =>
  (block: Uint8Array, index: number, count: number): Formatting => {
    const at = 2 * (block[(count + 1) * 4 + index * entryBytes] ?? 0)
    if (at === 0) return UNFORMATTED
    const words = block[at] ?? 0
    const [start, length] = words === 0 ? [at + 2, 2 * (block[at + 1] ?? 0)] : [at + 1, 2 * words - 1]
    if (length < 2 || start + 2 > BLOCK_BYTES) return UNFORMATTED
    return { style: createView(block).getUint16(start, true), properties: block.subarray(start + 2, start + length) }
  }

/** 0x81 means "opposite of the style"; no style turns these properties on. */
export const turnsOn =
  (property: number, list: (bytes: Uint8Array) => Iterable<Property>) =>
  ({ properties }: Pick<Run, 'properties'>): boolean => {
    for (const { number, operand } of list(properties)) if (number === property) return (operand.getUint8(0) & 1) === 1
    return false
  }

export const clipRuns = <T extends ByteRange>(runs: readonly T[], { from, to }: ByteRange): T[] =>
  runs.flatMap((run) =>
    run.from < to && from < run.to ? [{ ...run, from: Math.max(run.from, from), to: Math.min(run.to, to) }] : [],
  )
