/**
 * Work of matching, in steps: one visited state of a regular expression, one compared character, or as much time
 * (about 20 ns). Counting bounds what one filter can take from the only thread, whatever its pattern and its text.
 */
export interface Work {
  /** @throws WorkExceeded before the steps are done */
  spend(steps: number): void
}

export class WorkExceeded extends Error {
  constructor() {
    super('the work of a filter exceeds its limit')
    this.name = 'WorkExceeded'
  }
}

export const UNLIMITED_WORK: Work = { spend: () => undefined }
