import { Pencil } from 'lucide-react'
import { useState, type JSX } from 'react'
import { changeEmail, changeName } from '#web/data/account/account.ts'
import type { User } from '#web/data/auth/session.ts'
import { formatFullDay } from '#web/lib/format/format-day.ts'
import { Button } from '#web/ui/button.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import { TextField } from '#web/ui/text-field.tsx'
import { FactRow } from '#web/ui/fact-row.tsx'
import styles from '#web/ui/rows.module.css'
import { InlineForm } from '#web/ui/inline-form.tsx'
import { Section } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

const LONGEST_NAME = 80

/** The display name; empty if none is set. */
function displayNameOf({ user_metadata: metadata }: User): string {
  const name: unknown = metadata['display_name']
  return typeof name === 'string' ? name : ''
}

type FieldFormProps = {
  label: string
  type: 'text' | 'email'
  name: string
  given: string
  autoComplete: string
  required?: boolean
  note?: string
  save: (value: string) => Promise<void>
  onDone: () => void
}

function FieldForm({ label, given, note, save, onDone, ...field }: FieldFormProps): JSX.Element {
  const [value, setValue] = useState(given)
  const { busy, errorMessage, run } = useAttempt()
  const submit = async (): Promise<void> => {
    const trimmed = value.trim()
    if (trimmed === given || (await run(() => save(trimmed)))) onDone()
  }
  return (
    <InlineForm label={label} errorMessage={errorMessage} busy={busy} onCancel={onDone} onSubmit={submit}>
      <TextField
        label={label}
        maxLength={field.type === 'text' ? LONGEST_NAME : 255}
        {...field}
        value={value}
        onChange={(event) => setValue(event.target.value)}
      />
      {note !== undefined && <p className={styles.caption}>{note}</p>}
    </InlineForm>
  )
}

export function ProfileSection({ user }: { user: User }): JSX.Element {
  const [editing, setEditing] = useState<'name' | 'email' | null>(null)
  const openers = { name: useFocusAfterField(editing === 'name'), email: useFocusAfterField(editing === 'email') }
  const name = displayNameOf(user)
  const change = (what: 'name' | 'email', label: string): JSX.Element => (
    <Button ref={openers[what]} variant="ghost" size="icon" aria-label={label} onClick={() => setEditing(what)}>
      <Pencil size={15} />
    </Button>
  )
  const done = (): void => setEditing(null)
  return (
    <Section title="Profile">
      {editing === 'name' ? (
        <FieldForm
          label="Display name"
          type="text"
          name="name"
          given={name}
          autoComplete="name"
          save={changeName}
          onDone={done}
        />
      ) : (
        <FactRow label="Display name" action={change('name', 'Change display name')}>
          {name === '' ? <span className={styles.caption}>Not set</span> : name}
        </FactRow>
      )}
      {editing === 'email' ? (
        <FieldForm
          label="E-mail"
          type="email"
          name="email"
          given={user.email ?? ''}
          autoComplete="email"
          required
          note="We write to the old and to the new address. The change is made once both links were followed."
          save={changeEmail}
          onDone={done}
        />
      ) : (
        <FactRow label="E-mail" action={change('email', 'Change e-mail')}>
          {user.email}
          {user.new_email !== undefined && (
            <p className={styles.caption} role="status">
              Becomes {user.new_email} once both mails were confirmed.
            </p>
          )}
        </FactRow>
      )}
      <FactRow label="Member since">{formatFullDay(user.created_at)}</FactRow>
    </Section>
  )
}
