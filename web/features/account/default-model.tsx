import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { modelsQuery, offeredIn, unavailableReasons, useAvailability } from '#web/data/models.ts'
import { selectModel } from '#web/data/selected-model.ts'
import { accountSettingsQuery, changePreferences } from '#web/data/settings.ts'
import { modelLabel } from '#web/lib/messages/conversation-labels.ts'
import { ErrorText } from '#web/ui/section.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

export function DefaultModel(): JSX.Element | null {
  const queryClient = useQueryClient()
  const { id } = useUser()
  const { data } = useQuery(modelsQuery)
  const { data: availability } = useAvailability()
  const { data: settings } = useQuery(accountSettingsQuery(id))
  const { errorMessage, run } = useAttempt()
  if (data === undefined || settings === undefined) return null
  const models = offeredIn(null, data)
  const reasons = unavailableReasons(availability)
  const preferred = settings.preferences.default_model ?? ''
  const isGone = preferred !== '' && !models.some((model) => model.model_identifier === preferred)
  const ofServer = models.find(({ is_default }) => is_default)

  const choose = (identifier: string): void => {
    const chosen = models.find(({ model_identifier }) => model_identifier === identifier)
    const initial = chosen ?? ofServer
    if (initial !== undefined) selectModel(initial, { isDefault: true })
    void run(() => changePreferences(queryClient, id, { default_model: chosen?.model_identifier ?? null }))
  }
  return (
    <>
      <SelectField
        label="Model of new conversations"
        value={preferred}
        options={[
          {
            value: '',
            label: ofServer === undefined ? 'Default' : `Default (${ofServer.name})`,
          },
          ...(isGone
            ? [{ value: preferred, label: `${modelLabel(preferred, [])} (no longer offered)`, disabled: true }]
            : []),
          ...models.map(({ model_identifier, name }) => {
            const reason = reasons.get(model_identifier)
            return {
              value: model_identifier,
              label: reason === undefined ? name : `${name} (${reason.replace(/\.$/, '')})`,
              disabled: reason !== undefined,
            }
          }),
        ]}
        onChange={choose}
      />
      <ErrorText>{errorMessage}</ErrorText>
    </>
  )
}
