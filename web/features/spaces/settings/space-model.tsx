import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { JSX } from 'react'
import { modelsQuery, offeredIn } from '#web/data/models.ts'
import { changeSpace, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { modelLabel } from '#web/lib/messages/conversation-labels.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { ErrorText } from '#web/ui/section.tsx'
import { SelectField } from '#web/ui/select-field.tsx'

/** The model of new conversations in a space. */
export function SpaceModel({ space, mayChange }: { space: OwnSpace; mayChange: boolean }): JSX.Element | null {
  const queryClient = useQueryClient()
  const { data: models } = useQuery(modelsQuery)
  const { errorMessage, run } = useAttempt()
  if (models === undefined) return null
  const offered = offeredIn(space.id, models)
  const { default_model: chosen } = space
  const isGone = chosen !== null && !offered.some((model) => model.model_identifier === chosen)
  return (
    <>
      <SelectField
        label="Model of new conversations here"
        value={chosen ?? ''}
        disabled={!mayChange}
        options={[
          { value: '', label: 'As each member has chosen' },
          ...(isGone
            ? [{ value: chosen, label: `${modelLabel(chosen, [])} (no longer offered)`, disabled: true }]
            : []),
          ...offered.map(({ model_identifier: value, name: label }) => ({ value, label })),
        ]}
        onChange={(wanted) =>
          void run(() => changeSpace(queryClient, space.id, { default_model: wanted === '' ? null : wanted }))
        }
      />
      <ErrorText>{errorMessage}</ErrorText>
    </>
  )
}
