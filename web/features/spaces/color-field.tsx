import { useId, type JSX } from 'react'
import { SPACE_COLORS } from '#web/data/spaces/colors.ts'
import { SpaceMark } from './space-mark.tsx'
import styles from './color-field.module.css'

type ColorFieldProps = { value: string; disabled?: boolean; onChange: (color: string) => void }

export function ColorField({ value, disabled = false, onChange }: ColorFieldProps): JSX.Element {
  const name = useId()
  return (
    <fieldset className={styles.field} disabled={disabled}>
      <legend className={styles.legend}>Colour</legend>
      <div className={styles.colors}>
        {SPACE_COLORS.map((color) => (
          <label key={color} className={styles.color} title={color}>
            <input
              type="radio"
              name={name}
              value={color}
              aria-label={color}
              checked={value === color}
              onChange={() => onChange(color)}
            />
            <SpaceMark color={color} />
          </label>
        ))}
      </div>
    </fieldset>
  )
}
