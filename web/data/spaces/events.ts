import { queryOptions } from '@tanstack/react-query'
import { z } from 'zod'
import { rest } from '#web/data/client.ts'
import { readRest } from '#web/data/read-rest.ts'

const spaceEvent = z.object({
  id: z.number(),
  actor: z.uuid().nullable(),
  kind: z.string(),
  subject: z.uuid().nullable(),
  detail: z.record(z.string(), z.unknown()).catch({}),
  created_at: z.string(),
})
export type SpaceEvent = z.infer<typeof spaceEvent>

const NEWEST = 100

/** The newest first; only owners may read them. */
export const spaceEventsQuery = (space: string) =>
  queryOptions({
    queryKey: ['space_events', space] as const,
    queryFn: () =>
      readRest(
        z.array(spaceEvent),
        rest()
          .from('space_events')
          .select('id,actor,kind,subject,detail,created_at')
          .eq('space_id', space)
          .order('id', { ascending: false })
          .limit(NEWEST),
      ),
    // Whatever the person does elsewhere in the page adds to it.
    staleTime: 0,
  })
