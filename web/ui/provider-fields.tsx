import type { JSX, Ref } from 'react'
import type { NewPersonalProvider } from '#contract/provider.ts'
import { formText } from './form-text.ts'
import { SelectField } from './select-field.tsx'
import { TextField } from './text-field.tsx'

export type ProviderKind = NewPersonalProvider['kind']

const KINDS: readonly { value: ProviderKind; label: string }[] = [
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'openai', label: 'OpenAI' },
  { value: 'compatible', label: 'OpenAI-compatible server' },
]

/** The provider that the fields of a form describe. */
export function readProvider(kind: ProviderKind, form: HTMLFormElement): NewPersonalProvider {
  const given = new FormData(form)
  const apiKey = formText(given, 'apiKey')
  if (kind !== 'compatible') return { kind, apiKey }
  const endpoint = { kind, name: formText(given, 'name'), baseUrl: formText(given, 'baseUrl') }
  return apiKey === '' ? endpoint : { ...endpoint, apiKey }
}

type ProviderFieldsProps = {
  kind: ProviderKind
  onKind: (kind: ProviderKind) => void
  keyField?: Ref<HTMLInputElement>
}

/** The fields by which a provider of models is reached; its key is never shown again. */
export function ProviderFields({ kind, onKind, keyField }: ProviderFieldsProps): JSX.Element {
  return (
    <>
      <SelectField
        label="Provider"
        value={kind}
        options={KINDS}
        onChange={(chosen) => onKind(KINDS.find(({ value }) => value === chosen)?.value ?? kind)}
      />
      {kind === 'compatible' && (
        <>
          <TextField label="Name" name="name" required maxLength={60} placeholder="My server" />
          <TextField label="Address" name="baseUrl" type="url" required placeholder="https://models.example.org/v1" />
        </>
      )}
      <TextField
        label={kind === 'compatible' ? 'Key (if it wants one)' : 'Key'}
        ref={keyField}
        name="apiKey"
        type="password"
        autoComplete="off"
        required={kind !== 'compatible'}
      />
    </>
  )
}
