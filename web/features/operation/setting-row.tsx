import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import type { OperatedSetting } from '#contract/operation.ts'
import { changeSetting } from '#web/data/operation/operation.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import styles from './operation.module.css'

const LABELS: Readonly<Record<string, string>> = {
  AUTH_SIGNUP: 'Who may sign up',
  QUOTA_FILES_MB: 'Megabytes of files per person',
  QUOTA_TEXT_MB: 'Megabytes of conversations per person',
  QUOTA_TOTAL_MB: 'Megabytes of all people',
  LIMIT_QUESTIONS: 'Questions a day per person',
  LIMIT_QUESTIONS_ALL: 'Questions a day of all people',
  LIMIT_TOKENS: 'Tokens a day per person',
  LIMIT_TOKENS_ALL: 'Tokens a day of all people',
  LIMIT_COST: 'Dollars a month per person',
  LIMIT_COST_ALL: 'Dollars a month of all people',
  LIMIT_PAGES: 'Recognised pages a day per person',
  LIMIT_PAGES_ALL: 'Recognised pages a day of all people',
}
const SIGN_UPS = [
  { value: 'open', label: 'Everybody' },
  { value: 'invite', label: 'Invited people' },
  { value: 'closed', label: 'Nobody new' },
]
const SIGN_UP = 'AUTH_SIGNUP'

export const labelOfSetting = (name: string): string => LABELS[name] ?? name

export function FixedSetting({ label, value, name }: { label: string; value: string; name: string }): JSX.Element {
  return (
    <div className={styles.setting}>
      <p>
        {label}: {value}
      </p>
      <p className={rows.caption}>Set in the environment of the server ({name}).</p>
    </div>
  )
}

/** One setting. What is stored shows until something is typed, so that a change elsewhere is taken over. */
export function SettingRow({ setting }: { setting: OperatedSetting }): JSX.Element {
  const { name, value, is_fixed: isFixed, is_changed: isChanged } = setting
  const queryClient = useQueryClient()
  const [typed, setTyped] = useState<string | null>(null)
  const wanted = typed ?? value
  const { busy, errorMessage, run } = useAttempt()
  const label = labelOfSetting(name)
  const save = async (next: string | null): Promise<void> => {
    if (await run(() => changeSetting(queryClient, name, next))) setTyped(null)
  }
  if (isFixed) {
    const chosen = SIGN_UPS.find((choice) => name === SIGN_UP && choice.value === value)
    return <FixedSetting label={label} value={chosen?.label ?? value} name={name} />
  }
  return (
    <form
      className={styles.setting}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        void save(wanted.trim())
      }}
    >
      <div className={styles.fields}>
        {name === SIGN_UP ? (
          <SelectField label={label} value={wanted} options={SIGN_UPS} disabled={busy} onChange={setTyped} />
        ) : (
          <TextField
            label={label}
            inputMode="decimal"
            autoComplete="off"
            value={wanted}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        <Button type="submit" variant="outline" size="sm" disabled={busy || wanted.trim() === value}>
          Save
        </Button>
        {isChanged && name !== SIGN_UP && (
          <Button variant="ghost" size="sm" disabled={busy} onClick={() => void save(null)}>
            Default
          </Button>
        )}
      </div>
      <ErrorText>{errorMessage}</ErrorText>
    </form>
  )
}
