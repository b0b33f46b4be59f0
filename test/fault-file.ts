import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Small inputs that stand for kinds of files that were once read wrongly. */
export const readFaultFile = (name: string): Buffer => readFileSync(path.join(import.meta.dirname, 'faults', name))
