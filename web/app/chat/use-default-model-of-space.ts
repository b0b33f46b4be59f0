import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { modelsQuery } from '#web/data/models.ts'
import { selectInitialModel, useSelectedModel } from '#web/data/selected-model.ts'
import { accountSettingsQuery } from '#web/data/settings.ts'
import type { OwnSpace } from '#web/data/spaces/spaces.ts'

/** Selects the model of new conversations in a space, unless the person has chosen one. */
export function useDefaultModelOfSpace(space: OwnSpace | undefined, chatId: string | null): void {
  const { id: userId } = useUser()
  const { data: models } = useQuery(modelsQuery)
  const { data: settings } = useQuery(accountSettingsQuery(userId))
  const wanted = space?.default_model ?? settings?.preferences.default_model
  useEffect(() => {
    const { isDefault, identifier } = useSelectedModel.getState()
    if (models === undefined || settings === undefined || chatId !== null || !isDefault || identifier === null) return
    if (identifier !== wanted) selectInitialModel(models, wanted)
  }, [models, settings, chatId, wanted])
}
