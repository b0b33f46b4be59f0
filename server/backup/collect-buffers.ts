/**
 * Frees buffers that streams have passed. Their bytes are outside of the JavaScript heap, where the engine lets 64 MB gather before it
 * collects, and more while processors are busy.
 */
import { openCollector } from '#server/base/garbage-collector.ts'

/** One collection of the young generation takes about a millisecond. */
const COLLECT_AFTER_BYTES = 4 * 1024 * 1024
/** Streams of small files, which outlive a few collections, are collected by every eighth, which is a full one. */
const FULL_EVERY = 8

/** About what streams of one file allocate before its first byte. */
export const BUFFERS_OF_FILE_BYTES = 512 * 1024

let passed = 0
let collections = 0

/** @param bytes of one more buffer that passes */
export function collectPassed(bytes: number): void {
  passed += bytes
  if (passed < COLLECT_AFTER_BYTES) return
  passed = 0
  collections += 1
  openCollector()({ type: collections % FULL_EVERY === 0 ? 'major' : 'minor' })
}
