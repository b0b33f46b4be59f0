import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { FALLBACK_MODELS, modelsQuery, selectModel, useSelectedModel, type Model } from '#web/data/models.ts'
import { initialModel } from '#web/lib/model-groups.ts'
import { toast } from '#web/ui/toast.tsx'

/** The models to choose from; selects the first one once they are known, and tells when the table cannot be read. */
export function useModels(): Model[] {
  const { data, error } = useQuery(modelsQuery)
  const models = data ?? (error === null ? null : FALLBACK_MODELS)
  useEffect(() => {
    if (error === null) return
    console.error(error)
    toast({
      title: 'Error loading models',
      description: 'Could not load models from the database. Using default models instead.',
      variant: 'destructive',
    })
  }, [error])
  useEffect(() => {
    if (models === null || useSelectedModel.getState().identifier !== null) return
    const initial = initialModel(models)
    if (initial !== undefined) selectModel(initial)
  }, [models])
  return models ?? []
}
