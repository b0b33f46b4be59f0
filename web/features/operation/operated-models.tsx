import { useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useId, useRef, useState, type JSX } from 'react'
import type { OperatedModel, OperatedModels as Models, OperatedSetting } from '#contract/operation.ts'
import { changeSetting, offerModels } from '#web/data/operation/operation.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { Switch } from '#web/ui/switch.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import styles from './operation.module.css'
import { FixedSetting } from './setting-row.tsx'

const [DEFAULT, OFFER_NEW] = ['DEFAULT_MODEL', 'OFFER_NEW_MODELS']
const MODEL_SETTINGS: ReadonlySet<string> = new Set([DEFAULT, OFFER_NEW])
export const isModelSetting = ({ name }: OperatedSetting): boolean => MODEL_SETTINGS.has(name)

/** A server may list a thousand models: the others are found by their name. */
const MAX_SHOWN = 40
/** So few are seen at a glance. */
const MIN_SEARCHED = 12

/**
 * A control shows what was wanted until the answer arrives, and stays focused meanwhile. Of the choices that are made until
 * then, as arrow keys do in a list, the latest alone is saved.
 */
function useWanted<Value extends boolean | string>(value: Value, save: (wanted: Value) => Promise<void>) {
  const [wanted, setWanted] = useState<Value | null>(null)
  const latest = useRef<Value | null>(null)
  const { errorMessage, run } = useAttempt()
  const change = async (next: Value): Promise<void> => {
    setWanted(next)
    const isSaving = latest.current !== null
    latest.current = next
    if (isSaving) return
    let saved: Value
    do {
      saved = latest.current
      const saving = saved
      await run(() => save(saving))
    } while (latest.current !== saved)
    latest.current = null
    setWanted(null)
  }
  return { shown: wanted ?? value, errorMessage, change }
}

function describeModel({
  name,
  model_identifier: identifier,
  is_default: isDefault,
  is_listed: isListed,
}: OperatedModel) {
  return [
    ...(identifier === name || identifier.endsWith(`/${name}`) ? [] : [identifier]),
    ...(isDefault ? ['model of new conversations'] : []),
    ...(isListed ? [] : ['earlier, for conversations with it']),
  ].join(' · ')
}

function ModelSwitch({ model, isFixed }: { model: OperatedModel; isFixed: boolean }): JSX.Element {
  const queryClient = useQueryClient()
  const [labelId, captionId] = [useId(), useId()]
  const { shown, errorMessage, change } = useWanted(model.is_offered, (wanted) =>
    offerModels(queryClient, [model], wanted),
  )
  const caption = describeModel(model)
  return (
    <li className={styles.setting}>
      <div className={rows.row}>
        <span className={rows.words}>
          <span id={labelId} className={rows.value}>
            {model.name}
          </span>
          {caption !== '' && (
            <p id={captionId} className={rows.caption}>
              {caption}
            </p>
          )}
        </span>
        <Switch
          checked={shown}
          disabled={isFixed}
          onCheckedChange={(wanted) => void change(wanted)}
          aria-labelledby={labelId}
          {...(caption === '' ? {} : { 'aria-describedby': captionId })}
        />
      </div>
      <ErrorText>{errorMessage}</ErrorText>
    </li>
  )
}

interface GroupProps {
  readonly name: string
  readonly host: string | null
  readonly models: readonly OperatedModel[]
  readonly isFixed: boolean
  /** Whether `models` are those that a typed text has found. */
  readonly areFound: boolean
}

/** With `aria-disabled`: a disabled button would lose the focus. */
function AllButton({
  label,
  concerns,
  isSpent,
  onClick,
}: {
  label: string
  concerns: string
  isSpent: boolean
  onClick: () => void
}): JSX.Element {
  return (
    <Button
      variant="outline"
      size="sm"
      className={styles.all}
      aria-disabled={isSpent}
      onClick={() => {
        if (!isSpent) onClick()
      }}
    >
      {label}
      <span className={hidden.hidden}>{concerns}</span>
    </Button>
  )
}

function ProviderModels({ name, host, models, isFixed, areFound }: GroupProps): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const id = useId()
  const offered = models.filter((model) => model.is_offered).length
  const [said, setSaid] = useState('')
  const all = areFound ? `all ${models.length} found` : 'all'
  const offerAll = async (isOffered: boolean): Promise<void> => {
    setSaid('')
    if (await run(() => offerModels(queryClient, models, isOffered)))
      setSaid(`${models.length} models of ${name} are ${isOffered ? 'offered' : 'not offered'}.`)
  }
  const left = models.length - MAX_SHOWN
  return (
    <div className={rows.list}>
      <div>
        <h4 id={id} className={styles.group}>
          {name}
        </h4>
        <p className={rows.caption}>
          {host === null ? 'Answers on this server, without a language model' : `Questions go to ${host}`}
          {models.length > 1 && ` · ${offered} of ${models.length} offered`}
        </p>
      </div>
      {models.length === 0 && <p className={rows.caption}>It lists no models.</p>}
      <ul className={rows.list} aria-labelledby={id}>
        {models.slice(0, MAX_SHOWN).map((model) => (
          <ModelSwitch key={model.id} model={model} isFixed={isFixed} />
        ))}
      </ul>
      {left > 0 && <p className={rows.caption}>{left} more: type a part of the name above.</p>}
      {models.length > 1 && !isFixed && (
        <div className={rows.actions}>
          <AllButton
            label={`Offer ${all}`}
            concerns={` models of ${name}`}
            isSpent={busy || offered === models.length}
            onClick={() => void offerAll(true)}
          />
          <AllButton
            label={areFound ? `Withdraw ${all}` : 'Offer none'}
            concerns={areFound ? ` models of ${name}` : ` of the models of ${name}`}
            isSpent={busy || offered === 0}
            onClick={() => void offerAll(false)}
          />
        </div>
      )}
      <p role="status" className={hidden.hidden}>
        {said}
      </p>
      <ErrorText>{errorMessage}</ErrorText>
    </div>
  )
}

function DefaultModel({
  setting,
  models,
}: {
  setting: OperatedSetting
  models: readonly OperatedModel[]
}): JSX.Element {
  const queryClient = useQueryClient()
  const { value, is_fixed: isFixed } = setting
  const { shown, errorMessage, change } = useWanted(value, (chosen) =>
    changeSetting(queryClient, DEFAULT, chosen === '' ? null : chosen),
  )
  const label = 'Model of new conversations'
  const current = models.find((model) => model.is_default)
  if (isFixed) return <FixedSetting label={label} value={current?.name ?? value} name={DEFAULT} />
  const choosable = models.filter((model) => model.is_offered && model.is_listed)
  const isMissing = value !== '' && !choosable.some((model) => model.model_identifier === value)
  return (
    <div className={styles.setting}>
      <SelectField
        label={label}
        value={shown}
        options={[
          { value: '', label: `Automatic${value === '' && current ? ` (${current.name})` : ''}` },
          ...(isMissing ? [{ value, label: `${value} (no longer listed)`, disabled: true }] : []),
          ...choosable.map((model) => ({ value: model.model_identifier, label: `${model.name} (${model.provider})` })),
        ]}
        onChange={(chosen) => void change(chosen)}
      />
      <ErrorText>{errorMessage}</ErrorText>
    </div>
  )
}

function NewModels({ setting }: { setting: OperatedSetting }): JSX.Element {
  const queryClient = useQueryClient()
  const id = useId()
  const isOn = setting.value === 'true'
  const { shown, errorMessage, change } = useWanted(isOn, (wanted) =>
    changeSetting(queryClient, OFFER_NEW, String(wanted)),
  )
  const label = 'Offer new models of a provider'
  if (setting.is_fixed) return <FixedSetting label={label} value={isOn ? 'yes' : 'no'} name={OFFER_NEW} />
  return (
    <div className={styles.setting}>
      <div className={rows.row}>
        <span id={id}>{label}</span>
        <Switch checked={shown} onCheckedChange={(wanted) => void change(wanted)} aria-labelledby={id} />
      </div>
      <ErrorText>{errorMessage}</ErrorText>
    </div>
  )
}

/** Models that the installation pays for or runs: which are offered to everybody, and which is the default. */
export function OperatedModels({
  models: { providers, list, are_fixed: areFixed },
  settings,
}: {
  models: Models
  settings: readonly OperatedSetting[]
}): JSX.Element {
  const [typed, setTyped] = useState('')
  const wanted = useDeferredValue(typed.trim().toLowerCase())
  const [byDefault, offerNew] = [DEFAULT, OFFER_NEW].map((name) => settings.find((setting) => setting.name === name))
  const isWanted = ({ name, model_identifier: identifier }: OperatedModel) =>
    `${name} ${identifier}`.toLowerCase().includes(wanted)
  const groups = providers.map((provider) => ({
    ...provider,
    models: list.filter((model) => model.provider === provider.name && isWanted(model)),
  }))
  const shown = wanted === '' ? groups : groups.filter(({ models }) => models.length > 0)
  return (
    <>
      <p className={rows.caption}>
        Models that this installation pays for or runs. One that is not offered answers no questions, and conversations
        with it stay. Models that people connect with their own keys are theirs.
      </p>
      {byDefault !== undefined && <DefaultModel setting={byDefault} models={list} />}
      {offerNew !== undefined && !areFixed && <NewModels setting={offerNew} />}
      {areFixed && <p className={rows.caption}>Offered as set in the environment of the server (OFFERED_MODELS).</p>}
      {list.length > MIN_SEARCHED && (
        <TextField
          label="Find a model"
          type="search"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      {shown.map((group) => (
        <ProviderModels key={group.name} {...group} isFixed={areFixed} areFound={wanted !== ''} />
      ))}
      {shown.length === 0 && <p className={rows.caption}>No model has this in its name.</p>}
    </>
  )
}
