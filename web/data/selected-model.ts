import type { QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'
import { READER_MODEL } from '#contract/product-names.ts'
import { initialModel } from '#web/lib/messages/model-groups.ts'
import type { Space } from './current-space.ts'
import { FALLBACK_MODELS, type Model, modelsQuery, offeredIn } from './models.ts'
import { accountSettingsQuery } from './settings.ts'

declare global {
  interface Window {
    selectedModelIdentifier?: string
  }
}

type Selection = {
  name: string | null
  identifier: string | null
  /** Not chosen by the person: a new default replaces it. */
  isDefault: boolean
  /** While a conversation is open, its model does not change by itself. */
  isLocked: boolean
  /** The model of an open conversation of another person, who chooses it; null elsewhere. */
  given: string | null
}

/** The selected model; name and identifier are null until the models are loaded. */
export const useSelectedModel = create<Selection>(() => ({
  name: null,
  identifier: null,
  isDefault: true,
  isLocked: false,
  given: null,
}))

export function selectModel(
  { name, model_identifier: identifier }: Pick<Model, 'name' | 'model_identifier'>,
  { isDefault = false }: { isDefault?: boolean } = {},
): void {
  window.selectedModelIdentifier = identifier
  useSelectedModel.setState({ name, identifier, isDefault })
}

export function selectInitialModel(models: readonly Model[], preferred: string | null | undefined): void {
  const initial = models.find((model) => model.model_identifier === preferred) ?? initialModel(models)
  if (initial !== undefined) selectModel(initial, { isDefault: true })
}

export async function readSelectedModel(queryClient: QueryClient, userId: string, space: Space): Promise<string> {
  if (useSelectedModel.getState().identifier === null) {
    const [models, settings] = await Promise.allSettled([
      queryClient.query({ ...modelsQuery, staleTime: 'static' }),
      queryClient.query({ ...accountSettingsQuery(userId), staleTime: 'static' }),
    ])
    const preferred = settings.status === 'fulfilled' ? settings.value.preferences.default_model : undefined
    if (useSelectedModel.getState().identifier === null)
      selectInitialModel(offeredIn(space, models.status === 'fulfilled' ? models.value : FALLBACK_MODELS), preferred)
  }
  return useSelectedModel.getState().identifier ?? READER_MODEL
}

/** Selects the model of an opened conversation; the default model stays a default. */
export function selectConversationModel(model: Pick<Model, 'name' | 'model_identifier'>): void {
  const { identifier, isDefault } = useSelectedModel.getState()
  selectModel(model, { isDefault: isDefault && identifier === model.model_identifier })
}

export function lockSelectedModel(): () => void {
  useSelectedModel.setState({ isLocked: true })
  return () => useSelectedModel.setState({ isLocked: false })
}

export function showGivenModel(identifier: string | null): () => void {
  useSelectedModel.setState({ given: identifier })
  return () => useSelectedModel.setState({ given: null })
}
