import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import { changePassword, refetchSessions } from '#web/data/account/account.ts'
import { Button } from '#web/ui/button.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import { CodeField } from '#web/ui/code-field.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from '#web/ui/rows.module.css'
import { InlineForm } from '#web/ui/inline-form.tsx'
import { Section } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

const NOTHING = { current: '', next: '', code: '' }

function PasswordForm({ email, onDone }: { email: string; onDone: () => void }): JSX.Element {
  const queryClient = useQueryClient()
  const [fields, setFields] = useState(NOTHING)
  const [wantsCode, setWantsCode] = useState(false)
  const { busy, errorMessage, run } = useAttempt()

  const save = async (): Promise<void> => {
    if ((await changePassword(fields)) === 'code-mailed') {
      setWantsCode(true)
      return
    }
    await refetchSessions(queryClient)
    toast({ title: 'Password changed', description: 'You are signed out everywhere else.' })
    onDone()
  }
  const field = (name: keyof typeof NOTHING) => ({
    name,
    value: fields[name],
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  })

  return (
    <InlineForm
      label="Change password"
      errorMessage={errorMessage}
      busy={busy}
      save="Change password"
      onCancel={onDone}
      onSubmit={() => run(save)}
    >
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <TextField
        label="Current password"
        type="password"
        required
        autoComplete="current-password"
        {...field('current')}
      />
      <TextField label="New password" type="password" required autoComplete="new-password" {...field('next')} />
      {wantsCode && (
        <>
          <CodeField
            label="Code from the mail"
            value={fields.code}
            onChange={(code) => setFields({ ...fields, code })}
          />
          <p className={styles.caption}>You signed in a while ago: we sent a code to {email}.</p>
        </>
      )}
    </InlineForm>
  )
}

export function PasswordSection({ email }: { email: string }): JSX.Element {
  const [isChanging, setChanging] = useState(false)
  const opener = useFocusAfterField(isChanging)
  return (
    <Section title="Password">
      {isChanging ? (
        <PasswordForm email={email} onDone={() => setChanging(false)} />
      ) : (
        <Button ref={opener} variant="outline" size="sm" className={styles.start} onClick={() => setChanging(true)}>
          Change password
        </Button>
      )}
    </Section>
  )
}
