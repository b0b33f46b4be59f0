import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { useSpace } from '#web/data/current-space.ts'
import { FALLBACK_MODELS, modelsQuery, offeredIn, type Model, useAvailability } from '#web/data/models.ts'
import { selectInitialModel, useSelectedModel } from '#web/data/selected-model.ts'
import { accountSettingsQuery } from '#web/data/settings.ts'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import { toast } from '#web/ui/toast.tsx'

/** Selects the default of the space, the person's or the first model until an available one is chosen. Reports a failed fetch. */
export function useModels(): Model[] {
  const { data, error } = useQuery(modelsQuery)
  const held = useSelectedModel((state) => state.isLocked)
  const settings = useQuery(accountSettingsQuery(useUser().id))
  const preferred = useCurrentSpace()?.default_model ?? settings.data?.preferences.default_model
  const { data: availability } = useAvailability()
  const space = useSpace()
  const models = useMemo(
    () => (data === undefined ? (error === null ? null : FALLBACK_MODELS) : offeredIn(space, data)),
    [data, error, space],
  )
  const isFailureShown = useRef(false)
  useEffect(() => {
    if (data !== undefined) isFailureShown.current = false
    if (error === null) return
    console.error(error)
    // Each refetch may fail again; it must not take the place of another notification.
    if (data !== undefined || isFailureShown.current) return
    isFailureShown.current = true
    toast({
      title: 'Error loading models',
      description: 'Could not load models from the database. Using default models instead.',
      variant: 'destructive',
    })
  }, [data, error])
  useEffect(() => {
    const { identifier, isDefault } = useSelectedModel.getState()
    if (models === null || settings.isPending || (held && identifier !== null)) return
    const isUsable = availability?.find((row) => row.model_identifier === identifier)?.available !== false
    if (!isDefault && isUsable && models.some((model) => model.model_identifier === identifier)) return
    selectInitialModel(models, preferred)
  }, [models, availability, settings.isPending, preferred, held])
  return models ?? []
}
