import { useQueryClient } from '@tanstack/react-query'
import { Check, ChevronDown, KeyRound, RefreshCw, Sparkles, Unplug } from 'lucide-react'
import { Fragment, useRef, useState, type JSX } from 'react'
import { apiErrorMessage } from '#web/data/client.ts'
import { useSpace } from '#web/data/current-space.ts'
import {
  unavailableReasons,
  refetchModels,
  refreshModels,
  type Model,
  useAvailability,
  useModelLabel,
} from '#web/data/models.ts'
import { keyProviderOf, openProviderKeyForm } from '#web/data/provider-key-form.ts'
import { selectModel, useSelectedModel } from '#web/data/selected-model.ts'
import { groupModels } from '#web/lib/messages/model-groups.ts'
import { Button } from '#web/ui/button.tsx'
import { Menu, MenuChoice, MenuChoiceItem, MenuChosen, MenuItem, MenuLabel, MenuSeparator } from '#web/ui/menu.tsx'
import { toast } from '#web/ui/toast.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import styles from './model-picker.module.css'
import { useModels } from './use-models.ts'

function ModelWords({ model }: { model: Model }): JSX.Element {
  return (
    <>
      {model.isNew && <Sparkles size={14} aria-hidden className={styles.sparkle} />}
      <span className={styles.name}>{model.name}</span>
      {model.is_default && <span className={styles.badge}>DEFAULT</span>}
      {model.isNew && <span className={styles.badge}>NEW</span>}
    </>
  )
}

/** The reason that all models of a group share, to show it once. */
function sharedReason(models: readonly Model[], reasons: ReadonlyMap<string, string>): string | null {
  const [first, ...others] = models.map((model) => reasons.get(model.model_identifier))
  return first !== undefined && others.every((reason) => reason === first) ? first : null
}

/** Asks the endpoints for their models; the menu stays open. */
function RefreshItem(): JSX.Element {
  const queryClient = useQueryClient()
  const space = useSpace()
  const [busy, setBusy] = useState(false)
  const refresh = async (): Promise<void> => {
    setBusy(true)
    try {
      await refreshModels(queryClient, space)
    } catch (error) {
      console.error(error)
      toast({
        title: 'Not all models could be listed',
        description: apiErrorMessage(error) ?? 'A model server did not answer. Please try again.',
        variant: 'destructive',
      })
    }
    setBusy(false)
  }
  return (
    <MenuItem
      disabled={busy}
      onSelect={(event) => {
        event.preventDefault()
        void refresh()
      }}
    >
      <RefreshCw size={15} aria-hidden /> {busy ? 'Asking for models...' : 'Refresh models'}
    </MenuItem>
  )
}

/** A model of an own server, or one that the operator offers no longer. */
const describeGone = (identifier: string): string =>
  identifier.startsWith('endpoint:') ? 'This model is no longer connected.' : 'This model is no longer offered.'

export function ModelPicker({ onAddKey }: { onAddKey: () => void }): JSX.Element {
  const models = useModels()
  const given = useSelectedModel((state) => state.given)
  return given === null ? <ModelMenu models={models} onAddKey={onAddKey} /> : <GivenModel identifier={given} />
}

function GivenModel({ identifier }: { identifier: string }): JSX.Element {
  const label = useModelLabel()
  return (
    <Tooltip content="The author of this conversation chooses its model." side="bottom" onPress>
      <Button variant="ghost" size="sm" className={styles.trigger} aria-disabled>
        <span className={hidden.hidden}>Model: </span>
        <span className={styles.name}>{label(identifier)}</span>
      </Button>
    </Tooltip>
  )
}

type ModelMenuProps = { models: readonly Model[]; onAddKey: () => void }

function ModelMenu({ models, onAddKey }: ModelMenuProps): JSX.Element {
  const queryClient = useQueryClient()
  const { data: availability } = useAvailability()
  const { name, identifier } = useSelectedModel()
  const selected = models.find((model) => model.model_identifier === identifier)
  const reasons = unavailableReasons(availability)
  const isGone = identifier !== null && models.length > 0 && selected === undefined
  const fault = isGone ? describeGone(identifier) : reasons.get(identifier ?? '')
  // Opening the key form moves the focus there.
  const leaving = useRef(false)
  const choose = (chosen: string): void => {
    const model = models.find((given) => given.model_identifier === chosen)
    if (model !== undefined) selectModel(model)
  }
  return (
    <Menu
      label="Models"
      onOpenChange={(open) => {
        // No change says that a space has got a key, or has it no longer.
        if (open) void refetchModels(queryClient)
      }}
      onCloseAutoFocus={(event) => {
        if (leaving.current) event.preventDefault()
        leaving.current = false
      }}
      trigger={
        <Button variant="ghost" size="sm" className={styles.trigger}>
          <span className={hidden.hidden}>Model: </span>
          <span className={styles.name}>{name ?? '\u00a0'}</span>
          {fault !== undefined && (
            <span className={styles.fault} title={fault}>
              <Unplug size={14} aria-hidden />
              <span className={hidden.hidden}>{fault}</span>
            </span>
          )}
          {selected?.is_default === true && <span className={styles.badge}>DEFAULT</span>}
          <ChevronDown size={14} aria-hidden />
        </Button>
      }
    >
      <MenuChoice value={identifier ?? ''} onValueChange={choose}>
        {groupModels(models).map((group) => {
          const shared = sharedReason(group.models, reasons)
          const key = shared === null ? null : keyProviderOf(group.provider)
          return (
            <Fragment key={group.provider}>
              <MenuLabel>
                {group.provider}
                {shared !== null && <span className={styles.reason}>{shared}</span>}
              </MenuLabel>
              {group.models.map((model) => {
                const reason = reasons.get(model.model_identifier)
                return (
                  <MenuChoiceItem
                    key={model.id}
                    value={model.model_identifier}
                    disabled={reason !== undefined}
                    textValue={model.name}
                  >
                    <span className={styles.entry}>
                      <span className={styles.words}>
                        <ModelWords model={model} />
                      </span>
                      {reason !== undefined && (
                        <span className={shared === null ? styles.reason : hidden.hidden}>{reason}</span>
                      )}
                    </span>
                    <MenuChosen>
                      <Check size={15} aria-label="Selected" />
                    </MenuChosen>
                  </MenuChoiceItem>
                )
              })}
              {key !== null && (
                <MenuItem
                  onSelect={() => {
                    leaving.current = true
                    openProviderKeyForm(key)
                    onAddKey()
                  }}
                >
                  <KeyRound size={15} aria-hidden /> Add a key for {group.provider}
                </MenuItem>
              )}
            </Fragment>
          )
        })}
      </MenuChoice>
      <MenuSeparator />
      <RefreshItem />
    </Menu>
  )
}
