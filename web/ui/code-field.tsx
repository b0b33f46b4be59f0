import type { ComponentPropsWithRef, JSX } from 'react'
import { TextField } from './text-field.tsx'

type CodeFieldProps = Omit<ComponentPropsWithRef<'input'>, 'onChange'> & {
  label: string
  value: string
  onChange: (code: string) => void
}

/** A field for six digits; other characters are dropped. */
export function CodeField({ onChange, ...rest }: CodeFieldProps): JSX.Element {
  return (
    <TextField
      name="code"
      required
      autoFocus
      inputMode="numeric"
      autoComplete="one-time-code"
      pattern="[0-9]{6}"
      maxLength={6}
      onChange={(event) => onChange(event.target.value.replaceAll(/\D/g, '').slice(0, 6))}
      {...rest}
    />
  )
}
