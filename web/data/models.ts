import { queryOptions, useQuery, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { create } from 'zustand'
import { READER_MODEL } from '#contract/limits.ts'
import { modelAvailability, modelRow, type ModelAvailability, type ModelRow } from '#contract/model.ts'
import { modelLabel } from '#web/lib/messages/conversation-labels.ts'
import { initialModel } from '#web/lib/messages/model-groups.ts'
import { apiFetch, apiJson, rest } from './client.ts'
import { refetch } from './refetch.ts'
import { accountSettingsQuery } from './settings.ts'

declare global {
  interface Window {
    /** Identifier of the selected model, for other parts of the page and for outside scripts to read. */
    selectedModelIdentifier?: string
  }
}

const COLUMNS = 'id,name,version,model_identifier,provider,family,is_default,context_window'

export type Model = ModelRow & { isNew: boolean }

/** Listed when the table cannot be read: the model that needs nothing but the person's own documents. */
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
    isNew: false,
  },
]

/** The visible models, the default first, then by name. */
export const modelsQuery = queryOptions({
  queryKey: ['/api/models/visible'],
  queryFn: async (): Promise<Model[]> => {
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

/** Which models can be used now, and where questions go. */
export const availabilityQuery = queryOptions({
  queryKey: ['/api/models/availability'],
  queryFn: () => apiJson('/api/models/availability', z.array(modelAvailability)),
})

/** Why models cannot be used, by their identifiers. */
export const unavailableReasons = (availability: readonly ModelAvailability[] = []): Map<string, string> =>
  new Map(
    availability.filter((row) => !row.available).map((row) => [row.model_identifier, row.reason ?? 'Not available']),
  )

/** Reads again which models there are and which can be used. */
export async function refetchModels(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    refetch(queryClient, { queryKey: modelsQuery.queryKey }),
    refetch(queryClient, { queryKey: availabilityQuery.queryKey }),
  ])
}

/** Has every endpoint asked for its models, then reads them again, whatever came of it. */
export async function refreshModels(queryClient: QueryClient): Promise<void> {
  try {
    await apiFetch('/api/models/refresh', { method: 'POST' })
  } finally {
    await refetchModels(queryClient)
  }
}

/** How the model of a conversation is called; blank until the list has been read, so that no identifier flashes up. */
export function useModelLabel(): (identifier: string | null | undefined) => string {
  const { data, isPending } = useQuery(modelsQuery)
  return (identifier) => (isPending ? '\u00a0' : modelLabel(identifier, data ?? FALLBACK_MODELS))
}

type Selection = {
  name: string | null
  identifier: string | null
  /** Nobody chose it: it gives way where another one becomes the default. */
  isDefault: boolean
  /** A conversation is open, whose model does not change unseen. */
  isLocked: boolean
}

/** The selected model's display name and identifier; both null until the list has been read. */
export const useSelectedModel = create<Selection>(() => ({
  name: null,
  identifier: null,
  isDefault: true,
  isLocked: false,
}))

export function selectModel(
  { name, model_identifier: identifier }: Pick<Model, 'name' | 'model_identifier'>,
  { isDefault = false }: { isDefault?: boolean } = {},
): void {
  window.selectedModelIdentifier = identifier
  useSelectedModel.setState({ name, identifier, isDefault })
}

/** Selects what a person who chose nothing begins with: the own default, else the first one. */
export function selectInitialModel(models: readonly Model[], preferred: string | null | undefined): void {
  const initial = models.find((model) => model.model_identifier === preferred) ?? initialModel(models)
  if (initial !== undefined) selectModel(initial, { isDefault: true })
}

/** The selected model; who asks before the list has been read waits for it. */
export async function readSelectedModel(queryClient: QueryClient, userId: string): Promise<string> {
  if (useSelectedModel.getState().identifier === null) {
    const [models, settings] = await Promise.allSettled([
      queryClient.query({ ...modelsQuery, staleTime: 'static' }),
      queryClient.query({ ...accountSettingsQuery(userId), staleTime: 'static' }),
    ])
    const preferred = settings.status === 'fulfilled' ? settings.value.preferences.default_model : undefined
    // Somebody may have chosen meanwhile.
    if (useSelectedModel.getState().identifier === null)
      selectInitialModel(models.status === 'fulfilled' ? models.value : FALLBACK_MODELS, preferred)
  }
  return useSelectedModel.getState().identifier ?? READER_MODEL
}

/** Selects the model of a conversation that is opened; one that was begun with the default is no choice. */
export function selectConversationModel(model: Pick<Model, 'name' | 'model_identifier'>): void {
  const { identifier, isDefault } = useSelectedModel.getState()
  selectModel(model, { isDefault: isDefault && identifier === model.model_identifier })
}

/** Keeps the selected model while a conversation is open. Returns the function that lets go of it. */
export function lockSelectedModel(): () => void {
  useSelectedModel.setState({ isLocked: true })
  return () => useSelectedModel.setState({ isLocked: false })
}
