import type { QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { addFollower } from '#web/data/live/connection.ts'
import { joinChannel } from '#web/data/live/join-channel.ts'
import { logFailure } from '#web/data/live/log-failure.ts'
import { refetch } from '#web/data/refetch.ts'
import { receivedKey } from './invitations.ts'
import { spacesKey } from './spaces.ts'

/** A person that joins or leaves changes several rows: they cause one refetch. */
const REFETCH_DELAY_MS = 50

const ofSpace = z.object({ space_id: z.uuid() })

type Change = { new: unknown; old: unknown }

/** Follows in which spaces the person is, who else is in them, and invitations. Returns the function that stops. */
export function followSpaces(queryClient: QueryClient, userId: string): () => void {
  const outdated = new Set<readonly unknown[]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const refetchSoon = (...keys: (readonly unknown[])[]): void => {
    keys.forEach((key) => outdated.add(key))
    timer ??= setTimeout(() => {
      timer = undefined
      for (const queryKey of outdated) logFailure(refetch(queryClient, { queryKey }))
      outdated.clear()
    }, REFETCH_DELAY_MS)
  }
  const everything = (): void => refetchSoon(spacesKey, receivedKey, ['space_people'], ['space_invitations'])
  const spaceOf = (change: Change): string | undefined =>
    ofSpace.safeParse(change.new).data?.space_id ?? ofSpace.safeParse(change.old).data?.space_id
  const table = (name: string) => ({ event: '*', schema: 'public', table: name }) as const
  let joins = 0
  const leave = joinChannel(
    (client) =>
      client
        .channel(`spaces:${userId}`)
        .on('postgres_changes', table('spaces'), () => refetchSoon(spacesKey))
        .on('postgres_changes', table('space_members'), (change) =>
          refetchSoon(spacesKey, ['space_people', ...(spaceOf(change) === undefined ? [] : [spaceOf(change)])]),
        )
        .on('postgres_changes', table('space_invitations'), () => refetchSoon(receivedKey, ['space_invitations'])),
    {
      onChangesReady: everything,
      onJoined: () => {
        joins += 1
        if (joins > 1) everything()
      },
    },
  )
  // Changes by HTTP do not tell of spaces.
  const stopPolling = addFollower({
    isExpecting: () => false,
    apply: async () => {
      await Promise.all([
        refetch(queryClient, { queryKey: spacesKey }),
        refetch(queryClient, { queryKey: receivedKey }),
        refetch(queryClient, { queryKey: ['space_people'] }),
      ])
    },
  })
  return () => {
    clearTimeout(timer)
    stopPolling()
    leave()
  }
}
