/** The spaces of the person, with the own role in each. */
import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { spaceReceipt, spaceRole, spaceRow, type SpaceReceipt, type SpaceRole } from '#contract/space.ts'
import { sessionState } from '#web/data/auth/session.ts'
import { apiFetch, rest } from '#web/data/client.ts'
import { readRest } from '#web/data/read-rest.ts'
import { refetch } from '#web/data/refetch.ts'

const listedSpace = spaceRow.omit({ created_by: true })
const membership = z.object({ space_id: z.uuid(), role: spaceRole })

/** A space with the role of the person in it. */
export type OwnSpace = z.infer<typeof listedSpace> & { readonly role: SpaceRole }

export const spacesKey = ['spaces'] as const

const COLUMNS = Object.keys(listedSpace.shape).join(',')

const byName = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Spaces by name, archived ones last. */
export const spacesQuery = queryOptions({
  queryKey: spacesKey,
  queryFn: async (): Promise<OwnSpace[]> => {
    const person = sessionState().session?.user.id ?? ''
    const [rows, own] = await Promise.all([
      readRest(z.array(listedSpace), rest().from('spaces').select(COLUMNS)),
      readRest(z.array(membership), rest().from('space_members').select('space_id,role').eq('user_id', person)),
    ])
    const roles = new Map(own.map(({ space_id: id, role }) => [id, role]))
    return rows
      .flatMap((row) => {
        const role = roles.get(row.id)
        return role === undefined ? [] : [{ ...row, role }]
      })
      .toSorted(
        (one, other) =>
          Number(one.archived_at !== null) - Number(other.archived_at !== null) || byName.compare(one.name, other.name),
      )
  },
})

export type SpaceChange = Partial<Pick<OwnSpace, 'name' | 'color' | 'default_model' | 'archived_at'>>

/** The person who creates a space is its first owner. */
export async function createSpace(queryClient: QueryClient, given: { name: string; color: string }): Promise<OwnSpace> {
  // Read by a second request: the policies let a row be read once its owner is a member.
  const id = crypto.randomUUID()
  await readRest(
    z.unknown(),
    rest()
      .from('spaces')
      .insert({ id, ...given }),
  )
  // A read that began earlier does not know the new space.
  await queryClient.cancelQueries({ queryKey: spacesKey })
  const spaces = await queryClient.query({ ...spacesQuery, staleTime: 0 })
  const created = spaces.find((space) => space.id === id)
  if (created === undefined) throw new Error('The new space is not there')
  return created
}

export async function changeSpace(queryClient: QueryClient, id: string, change: SpaceChange): Promise<void> {
  await readRest(z.object({ id: z.uuid() }), rest().from('spaces').update(change).eq('id', id).select('id').single())
  queryClient.setQueryData(spacesQuery.queryKey, (spaces) =>
    spaces?.map((space) => (space.id === id ? { ...space, ...change } : space)),
  )
}

/**
 * Changes the instructions if they are still those that the person has seen.
 * @returns whether they were; if not, the newer ones are in the cache
 */
export async function changeInstructions(
  queryClient: QueryClient,
  id: string,
  { seen, wanted }: { seen: string; wanted: string },
): Promise<boolean> {
  const isChanged = await readRest(z.boolean(), rest().rpc('change_instructions', { space: id, seen, wanted }))
  if (!isChanged) await refetch(queryClient, { queryKey: spacesKey })
  else
    queryClient.setQueryData(spacesQuery.queryKey, (spaces) =>
      spaces?.map((space) => (space.id === id ? { ...space, instructions: wanted } : space)),
    )
  return isChanged
}

/** @returns what was deleted, which the server tells only now, and mails to the owner */
export async function deleteSpace(queryClient: QueryClient, id: string): Promise<SpaceReceipt> {
  const answer = await apiFetch(`/api/spaces/${id}`, { method: 'DELETE' })
  const receipt = spaceReceipt.parse(await answer.json())
  queryClient.setQueryData(spacesQuery.queryKey, (spaces) => spaces?.filter((space) => space.id !== id))
  return receipt
}
