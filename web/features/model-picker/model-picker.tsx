import { useQuery } from '@tanstack/react-query'
import { Check, ChevronDown, Sparkles } from 'lucide-react'
import { Fragment, type JSX } from 'react'
import { availabilityQuery, selectModel, useSelectedModel, type Model } from '#web/data/models.ts'
import { groupModels } from '#web/lib/model-groups.ts'
import { Button } from '#web/ui/button.tsx'
import { Menu, MenuChoice, MenuChoiceItem, MenuChosen, MenuLabel } from '#web/ui/menu.tsx'
import { useModels } from './use-models.ts'
import hidden from '#web/ui/visually-hidden.module.css'
import styles from './model-picker.module.css'

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

/** Chooses which model answers; models come grouped by provider. */
export function ModelPicker(): JSX.Element {
  const models = useModels()
  const { data: availability } = useQuery(availabilityQuery)
  const { name, identifier } = useSelectedModel()
  const selected = models.find((model) => model.model_identifier === identifier)
  const unavailable = new Map(
    availability?.filter((row) => !row.available).map((row) => [row.model_identifier, row.reason ?? 'Not available']),
  )
  const choose = (chosen: string): void => {
    const model = models.find((given) => given.model_identifier === chosen)
    if (model !== undefined) selectModel(model)
  }
  return (
    <Menu
      label="Models"
      trigger={
        <Button variant="ghost" size="sm" className={styles.trigger}>
          <span className={hidden.hidden}>Model: </span>
          <span className={styles.name}>{name ?? 'none selected'}</span>
          {selected?.is_default === true && <span className={styles.badge}>DEFAULT</span>}
          <ChevronDown size={14} aria-hidden />
        </Button>
      }
    >
      <MenuChoice value={identifier ?? ''} onValueChange={choose}>
        {groupModels(models).map((group) => (
          <Fragment key={group.provider}>
            <MenuLabel>{group.provider}</MenuLabel>
            {group.models.map((model) => (
              <MenuChoiceItem key={model.id} value={model.model_identifier}>
                <ModelWords model={model} />
                {unavailable.has(model.model_identifier) && (
                  <span className={styles.reason}>{unavailable.get(model.model_identifier)}</span>
                )}
                <MenuChosen>
                  <Check size={15} aria-label="Selected" />
                </MenuChosen>
              </MenuChoiceItem>
            ))}
          </Fragment>
        ))}
      </MenuChoice>
    </Menu>
  )
}
