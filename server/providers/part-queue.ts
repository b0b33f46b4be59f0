/** Between a model that writes and whoever reads it: text that nobody has read yet is joined into one part. */
import { type ChatPart } from './chat.ts'

export interface PartQueue {
  readonly push: (part: ChatPart) => void
  /** Nothing comes any more. */
  readonly end: () => void
  /** Nothing comes any more but this error, once everything before it was read. */
  readonly fail: (error: unknown) => void
  /** Read by one reader. @throws what it failed with. */
  readonly read: () => AsyncGenerator<ChatPart>
}

export function createPartQueue(): PartQueue {
  let waiting: ChatPart[] = []
  let outcome: { readonly error?: unknown; readonly hasFailed: boolean } | undefined
  let wake: (() => void) | undefined

  const end = (how: NonNullable<typeof outcome>) => {
    outcome ??= how
    wake?.()
  }

  return {
    push(part) {
      const last = waiting.at(-1)
      if ((part.type === 'text' || part.type === 'reasoning') && last?.type === part.type)
        waiting[waiting.length - 1] = { type: part.type, text: last.text + part.text }
      else waiting.push(part)
      wake?.()
    },
    end: () => end({ hasFailed: false }),
    fail: (error) => end({ error, hasFailed: true }),
    async *read() {
      for (;;) {
        const parts = waiting
        waiting = []
        yield* parts
        if (waiting.length > 0) continue
        if (outcome?.hasFailed) throw outcome.error
        if (outcome) return
        await new Promise<void>((resolve) => (wake = resolve))
        wake = undefined
      }
    },
  }
}
