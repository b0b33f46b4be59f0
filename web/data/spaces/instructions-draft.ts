/** Instructions of a space that a person has typed and not saved: they survive a reload and another tab of the panel. */
import { z } from 'zod'
import { readDraft, storeDraft } from '#web/data/drafts.ts'

const draft = z.object({
  text: z.string(),
  /** The instructions as they were when the person began to type. */
  seen: z.string(),
})
export type InstructionsDraft = z.infer<typeof draft>

const idOf = (space: string): string => `instructions:${space}`

export function readInstructionsDraft(userId: string, space: string): InstructionsDraft | null {
  const stored = readDraft(userId, idOf(space))
  return stored === '' ? null : draft.parse(JSON.parse(stored))
}

export const storeInstructionsDraft = (userId: string, space: string, typed: InstructionsDraft | null): void =>
  storeDraft(userId, idOf(space), typed === null ? '' : JSON.stringify(typed))
