import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { spacePerson, type SpaceRole } from '#contract/space.ts'
import { rest } from '#web/data/client.ts'
import { readRest } from '#web/data/read-rest.ts'
import { refetch } from '#web/data/refetch.ts'
import { spacesKey } from './spaces.ts'

export const peopleKey = (space: string) => ['space_people', space] as const

/** The members of a space, the longest-standing first. */
export const peopleQuery = (space: string) =>
  queryOptions({
    queryKey: peopleKey(space),
    queryFn: () => readRest(z.array(spacePerson), rest().rpc('space_people', { space })),
  })

const changed = z.object({ user_id: z.uuid() })

export async function changeRole(
  queryClient: QueryClient,
  { space, person, role }: { space: string; person: string; role: SpaceRole },
): Promise<void> {
  await readRest(
    changed,
    rest()
      .from('space_members')
      .update({ role })
      .eq('space_id', space)
      .eq('user_id', person)
      .select('user_id')
      .single(),
  )
  await refetchMembers(queryClient, space)
}

/** Ends a membership, also the own one. */
export async function removeMember(queryClient: QueryClient, space: string, person: string): Promise<void> {
  await readRest(
    changed,
    rest().from('space_members').delete().eq('space_id', space).eq('user_id', person).select('user_id').single(),
  )
  await refetchMembers(queryClient, space)
}

/** Makes another member owner, then the person an editor: in between there are two owners, and never none. */
export async function transferOwnership(
  queryClient: QueryClient,
  { space, from, to }: { space: string; from: string; to: string },
): Promise<void> {
  await changeRole(queryClient, { space, person: to, role: 'owner' })
  await changeRole(queryClient, { space, person: from, role: 'editor' })
}

export async function refetchMembers(queryClient: QueryClient, space: string): Promise<void> {
  await Promise.all([
    refetch(queryClient, { queryKey: peopleKey(space) }),
    refetch(queryClient, { queryKey: spacesKey }),
  ])
}
