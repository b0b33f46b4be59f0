import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { receivedInvitation, spaceInvitation, type ReceivedInvitation, type SpaceRole } from '#contract/space.ts'
import { apiFetch, apiSend, rest } from '#web/data/client.ts'
import { readRest } from '#web/data/read-rest.ts'
import { refetch } from '#web/data/refetch.ts'
import { spacesKey } from './spaces.ts'

const COLUMNS = Object.keys(spaceInvitation.shape).join(',')

export const invitationsKey = (space: string) => ['space_invitations', space] as const

/** Open invitations to a space; only its owners may read them. */
export const invitationsQuery = (space: string) =>
  queryOptions({
    queryKey: invitationsKey(space),
    queryFn: () =>
      readRest(
        z.array(spaceInvitation),
        rest()
          .from('space_invitations')
          .select(COLUMNS)
          .eq('space_id', space)
          .gt('expires_at', new Date().toISOString())
          .order('created_at', { ascending: false }),
      ),
  })

/** The server answers the same whether or not the address has an account. */
export async function invite(
  queryClient: QueryClient,
  { space, email, role }: { space: string; email: string; role: SpaceRole },
): Promise<void> {
  await apiSend('POST', `/api/spaces/${space}/invitations`, { email, role })
  await refetch(queryClient, { queryKey: invitationsKey(space) })
}

export async function withdrawInvitation(queryClient: QueryClient, space: string, id: string): Promise<void> {
  await readRest(
    z.object({ id: z.uuid() }),
    rest().from('space_invitations').delete().eq('id', id).select('id').single(),
  )
  await refetch(queryClient, { queryKey: invitationsKey(space) })
}

export const receivedKey = ['received_invitations'] as const

/** Invitations to the confirmed address of the person. */
export const receivedInvitationsQuery = queryOptions({
  queryKey: receivedKey,
  queryFn: () => readRest(z.array(receivedInvitation), rest().rpc('received_invitations')),
})

export async function answerInvitation(
  queryClient: QueryClient,
  { id }: Pick<ReceivedInvitation, 'id'>,
  answer: 'accept' | 'decline',
): Promise<void> {
  await apiFetch(`/api/invitations/${id}/${answer}`, { method: 'POST' })
  queryClient.setQueryData(receivedInvitationsQuery.queryKey, (known) => known?.filter((row) => row.id !== id))
  if (answer === 'accept') await refetch(queryClient, { queryKey: spacesKey })
}
