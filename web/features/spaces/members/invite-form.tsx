import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import { invite } from '#web/data/spaces/invitations.ts'
import { spaceRole, type SpaceRole } from '#contract/space.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { ROLE_WORDS } from '#web/features/spaces/role-words.ts'
import rows from '#web/ui/rows.module.css'
import { InlineForm } from '#web/ui/inline-form.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import { toast } from '#web/ui/toast.tsx'

const OPTIONS = spaceRole.options.toReversed().map((role) => ({ value: role, label: ROLE_WORDS[role].label }))

export function InviteForm({ space, onDone }: { space: string; onDone: () => void }): JSX.Element {
  const queryClient = useQueryClient()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<SpaceRole>('reader')
  const { busy, errorMessage, run } = useAttempt()
  const submit = async (): Promise<void> => {
    const address = email.trim()
    if (!(await run(() => invite(queryClient, { space, email: address, role })))) return
    toast({ title: 'Invitation sent', description: `${address} joins once the invitation is accepted.` })
    onDone()
  }
  return (
    <InlineForm
      label="Invite by e-mail"
      errorMessage={errorMessage}
      busy={busy}
      save="Invite"
      saving="Inviting..."
      onCancel={onDone}
      onSubmit={submit}
    >
      <TextField
        label="E-mail"
        type="email"
        name="email"
        required
        autoComplete="off"
        maxLength={320}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <SelectField
        label="Role"
        value={role}
        options={OPTIONS}
        onChange={(chosen) => setRole(spaceRole.parse(chosen))}
      />
      <p className={rows.caption}>{ROLE_WORDS[role].may}.</p>
    </InlineForm>
  )
}
