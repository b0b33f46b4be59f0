/** Members who are in the current space, as their pages tell over its channel. */
import { z } from 'zod'
import { create } from 'zustand'

const present = z.object({
  user: z.uuid(),
  conversation: z.uuid().nullable().catch(null),
  typing: z.boolean().catch(false),
})
export type Present = z.infer<typeof present>

export const usePresence = create<{ people: readonly Present[] }>(() => ({ people: [] }))

/** @param state of the channel, whose entries other pages wrote: those of another shape are left out */
export function storePresence(state: Readonly<Record<string, readonly unknown[]>>): void {
  const people = Object.values(state)
    .flat()
    .flatMap((entry) => present.safeParse(entry).data ?? [])
  usePresence.setState({ people })
}

export function clearPresence(): void {
  usePresence.setState({ people: [] })
}
