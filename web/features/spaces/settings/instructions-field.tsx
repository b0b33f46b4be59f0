import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX, type SubmitEvent } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import {
  readInstructionsDraft,
  storeInstructionsDraft,
  type InstructionsDraft,
} from '#web/data/spaces/instructions-draft.ts'
import { changeInstructions, spacesQuery, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import styles from './space-settings.module.css'

const LONGEST = 20_000

type InstructionsFieldProps = { space: OwnSpace; mayChange: boolean }

export function InstructionsField({ space, mayChange }: InstructionsFieldProps): JSX.Element {
  const queryClient = useQueryClient()
  const { id: userId } = useUser()
  /** Null: as stored, also when another member changes it. */
  const [draft, setDraft] = useState(() => readInstructionsDraft(userId, space.id))
  const { busy, errorMessage, run } = useAttempt()
  const write = (next: InstructionsDraft | null): void => {
    setDraft(next)
    storeInstructionsDraft(userId, space.id, next)
  }
  const isChanged = draft !== null && draft.text !== space.instructions
  const hasOtherChange = isChanged && draft.seen !== space.instructions
  const type = (text: string): void => {
    const seen = draft?.seen ?? space.instructions
    write(text === seen && seen === space.instructions ? null : { text, seen })
  }
  const save = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    if (draft === null) return
    // Where another member changed them meanwhile, the page shows that, and what was typed stays.
    await run(async () => {
      if (await changeInstructions(queryClient, space.id, { seen: draft.seen, wanted: draft.text })) return write(null)
      const read = queryClient.getQueryData(spacesQuery.queryKey)?.find(({ id }) => id === space.id)
      if (read?.instructions === draft.seen) throw new Error('The newer instructions could not be read')
    })
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
        readOnly={busy}
        placeholder="Answer in short sentences, with figures in euros…"
        value={draft?.text ?? space.instructions}
        onChange={(event) => type(event.target.value)}
      />
      {!mayChange && <ErrorText>You can no longer change this. Copy what you wrote to keep it.</ErrorText>}
      {hasOtherChange && mayChange && (
        <div className={styles.conflict} role="alert">
          <p>Another member has changed the instructions meanwhile. What you typed is still above. They are now:</p>
          <p className={styles.text} dir="auto">
            {space.instructions === '' ? '(empty)' : space.instructions}
          </p>
          <div className={rows.actions}>
            <Button size="sm" onClick={() => write({ ...draft, seen: space.instructions })}>
              Go on with mine
            </Button>
            <Button variant="ghost" size="sm" onClick={() => write(null)}>
              Take the new ones
            </Button>
          </div>
        </div>
      )}
      <ErrorText>{errorMessage}</ErrorText>
      {isChanged && !hasOtherChange && (
        <div className={rows.actions}>
          <Button type="submit" size="sm" disabled={busy || !mayChange}>
            {busy ? 'Saving...' : 'Save'}
          </Button>
          <Button variant="ghost" size="sm" onClick={() => write(null)}>
            Cancel
          </Button>
        </div>
      )}
    </form>
  )
}
