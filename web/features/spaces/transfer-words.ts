import type { Transfer } from '#web/data/spaces/moves.ts'

export const TRANSFER_WORDS: Readonly<Record<Transfer, { label: string; done: string; where: string }>> = {
  move: { label: 'Move to', done: 'moved', where: 'is in' },
  copy: { label: 'Copy to', done: 'copied', where: 'has a copy in' },
}
