import { queryOptions, useQuery, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { modelAvailability, modelRow, type ModelAvailability, type ModelRow } from '#contract/model.ts'
import { READER_MODEL } from '#contract/product-names.ts'
import { modelLabel } from '#web/lib/messages/conversation-labels.ts'
import { apiFetch, apiJson, rest } from './client.ts'
import { type Space, spaceOfChange, useSpace } from './current-space.ts'
import { untilMomentKnown } from './live/missed-changes.ts'
import { refetch } from './refetch.ts'

const COLUMNS = 'id,name,version,model_identifier,provider,family,is_default,context_window,space_id'

export type Model = ModelRow & { isNew: boolean }

/** Used if the models cannot be fetched; it needs no provider. */
export const FALLBACK_MODELS: Model[] = [
  {
    id: '00000000-0000-4000-8000-000000000000',
    name: 'Alcove Reader',
    version: '1',
    model_identifier: READER_MODEL,
    provider: 'Alcove',
    family: 'reader',
    is_default: true,
    context_window: 32_000,
    space_id: null,
    isNew: false,
  },
]

/** The visible models of the person and of all their spaces, the default first, then by name. */
export const modelsQuery = queryOptions({
  queryKey: ['/api/models/visible'],
  queryFn: async ({ signal }): Promise<Model[]> => {
    await untilMomentKnown(signal)
    const { data, error } = await rest()
      .from('models')
      .select(COLUMNS)
      .eq('is_visible', true)
      .order('is_default', { ascending: false })
      .order('name')
    if (error !== null) throw new Error(error.message, { cause: error })
    return z
      .array(modelRow)
      .parse(data)
      .map((model) => ({ ...model, isNew: model.name.toLowerCase().includes('claude 3.7') }))
  },
})

/** The models that can be chosen in the space. */
export const offeredIn = (space: Space, models: readonly Model[]): Model[] =>
  models.filter(({ space_id: of }) => of === null || of === space)

const AVAILABILITY = '/api/models/availability'

const availabilityQuery = (space: Space) =>
  queryOptions({
    queryKey: [AVAILABILITY, space],
    queryFn: async ({ signal }) => {
      await untilMomentKnown(signal)
      return apiJson(AVAILABILITY + spaceOfChange(space), z.array(modelAvailability), { signal })
    },
  })

/** Which models answer in the space that the page shows. */
export const useAvailability = () => useQuery(availabilityQuery(useSpace()))

export const unavailableReasons = (availability: readonly ModelAvailability[] = []): Map<string, string> =>
  new Map(
    availability.filter((row) => !row.available).map((row) => [row.model_identifier, row.reason ?? 'Not available']),
  )

export async function refetchModels(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    refetch(queryClient, { queryKey: modelsQuery.queryKey }),
    refetch(queryClient, { queryKey: [AVAILABILITY] }),
  ])
}

/** The server asks every endpoint for its models; then both queries are refetched, even after a failure. */
export async function refreshModels(queryClient: QueryClient, space: Space): Promise<void> {
  try {
    await apiFetch(`/api/models/refresh${spaceOfChange(space)}`, { method: 'POST' })
  } finally {
    await refetchModels(queryClient)
  }
}

/** The display name of a model, of the fallback list while the models are not loaded. */
export const cachedModelLabel = (queryClient: QueryClient, identifier: string): string =>
  modelLabel(identifier, queryClient.getQueryData(modelsQuery.queryKey) ?? FALLBACK_MODELS)

/** The display name of a model; a blank until its name is loaded, so that no identifier flashes up. */
export function useModelLabel(): (identifier: string | null | undefined) => string {
  const { data = FALLBACK_MODELS, isPending } = useQuery(modelsQuery)
  const unlisted = useAvailability()
  return (identifier) => {
    const isListed = identifier == null || data.some(({ model_identifier: listed }) => listed === identifier)
    if (isPending || (!isListed && unlisted.isPending)) return '\u00a0'
    return modelLabel(identifier, [...data, ...(unlisted.data ?? [])])
  }
}
