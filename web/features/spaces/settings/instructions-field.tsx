import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX, type SubmitEvent } from 'react'
import { changeSpace, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import styles from './space-settings.module.css'

const LONGEST = 20_000

type InstructionsFieldProps = { space: OwnSpace; mayChange: boolean }

export function InstructionsField({ space, mayChange }: InstructionsFieldProps): JSX.Element {
  const queryClient = useQueryClient()
  /** Null: as stored, also when another member changes it. */
  const [draft, setDraft] = useState<string | null>(null)
  const { busy, errorMessage, run } = useAttempt()
  const save = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    if (draft !== null && (await run(() => changeSpace(queryClient, space.id, { instructions: draft })))) setDraft(null)
  }
  if (!mayChange && draft === null)
    return space.instructions === '' ? (
      <p className={rows.caption}>None. Owners and editors can write some.</p>
    ) : (
      <p className={styles.text} dir="auto">
        {space.instructions}
      </p>
    )
  return (
    <form className={rows.form} aria-label="Instructions" onSubmit={(event) => void save(event)}>
      <p className={rows.caption}>Put before every question in this space. All members see them.</p>
      <textarea
        className={styles.area}
        aria-label="Instructions"
        dir="auto"
        maxLength={LONGEST}
        placeholder="Answer in short sentences, with figures in euros…"
        value={draft ?? space.instructions}
        onChange={(event) => setDraft(event.target.value)}
      />
      {!mayChange && <ErrorText>You can no longer change this. Copy what you wrote to keep it.</ErrorText>}
      <ErrorText>{errorMessage}</ErrorText>
      {draft !== null && draft !== space.instructions && (
        <div className={rows.actions}>
          <Button type="submit" size="sm" disabled={busy || !mayChange}>
            {busy ? 'Saving...' : 'Save'}
          </Button>
          <Button variant="ghost" size="sm" onClick={() => setDraft(null)}>
            Cancel
          </Button>
        </div>
      )}
    </form>
  )
}
