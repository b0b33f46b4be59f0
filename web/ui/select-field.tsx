import { useId, type JSX } from 'react'
import { Select } from './select.tsx'
import styles from './rows.module.css'

type SelectFieldProps = {
  label: string
  value: string
  options: readonly { value: string; label: string; disabled?: boolean }[]
  disabled?: boolean
  onChange: (value: string) => void
}

export function SelectField({ label, value, options, disabled = false, onChange }: SelectFieldProps): JSX.Element {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <Select id={id} value={value} disabled={disabled} onChange={(event) => onChange(event.target.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </Select>
    </div>
  )
}
