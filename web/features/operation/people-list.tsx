import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import { type OperatedPerson, PEOPLE_PER_PAGE } from '#contract/operation.ts'
import { describeBytes } from '#contract/usage.ts'
import { changePerson, inviteByMail, peopleQuery } from '#web/data/operation/operation.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { formatDateLabel } from '#web/lib/format/format-date.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import styles from './operation.module.css'

function describePerson({ created_at: createdAt, seen_at: seenAt, bytes }: OperatedPerson): string {
  const seen = seenAt === null ? 'never signed in' : `last seen ${formatDateLabel(seenAt)}`
  return `Since ${formatDateLabel(createdAt)} · ${seen} · ${describeBytes(bytes)}`
}

const tagsOf = (person: OperatedPerson): string[] => [
  ...(person.is_operator ? ['Operator'] : []),
  ...(person.is_disabled ? ['Disabled'] : []),
  ...(person.is_confirmed ? [] : ['Not confirmed']),
  ...(person.has_second_factor ? ['Second factor'] : []),
]

function PersonRow({ person }: { person: OperatedPerson }): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const [isAsking, setAsking] = useState(false)
  const email = person.email ?? 'Without an address'
  const tags = tagsOf(person)
  const change = (action: Parameters<typeof changePerson>[2]) => {
    setAsking(false)
    void run(() => changePerson(queryClient, person, action))
  }
  return (
    <li className={styles.person}>
      <p className={rows.value}>{email}</p>
      <p className={rows.caption}>{describePerson(person)}</p>
      {tags.length > 0 && (
        <p className={styles.tags}>
          {tags.map((tag) => (
            <span key={tag} className={rows.tag}>
              {tag}
            </span>
          ))}
        </p>
      )}
      {!person.is_operator && (
        <div className={rows.actions}>
          {person.is_disabled ? (
            <Button
              variant="outline"
              size="sm"
              disabled={busy}
              aria-label={`Enable ${email}`}
              onClick={() => change('enable')}
            >
              Enable
            </Button>
          ) : (
            <Button
              variant="outline"
              size="sm"
              disabled={busy}
              aria-label={`Disable ${email}`}
              onClick={() => change('disable')}
            >
              Disable
            </Button>
          )}
          {person.has_second_factor && (
            <Button
              variant="ghost"
              size="sm"
              disabled={busy}
              aria-label={`Reset second factor of ${email}`}
              onClick={() => setAsking(true)}
            >
              Reset second factor
            </Button>
          )}
        </div>
      )}
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Reset the second factor of ${email}?`}
        description="The account is signed out everywhere, and its password alone signs in again."
        confirmLabel="Reset it and sign out everywhere"
        onConfirm={() => change('reset-second-factor')}
      />
      <ErrorText>{errorMessage}</ErrorText>
    </li>
  )
}

function InviteForm(): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const [email, setEmail] = useState('')
  const [invited, setInvited] = useState<string | null>(null)
  const submit = async () => {
    setInvited(null)
    if (!(await run(() => inviteByMail(queryClient, email)))) return
    setInvited(email)
    setEmail('')
  }
  return (
    <form
      className={styles.setting}
      aria-label="Invite by mail"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <div className={styles.fields}>
        <TextField
          label="Invite by mail"
          type="email"
          required
          autoComplete="off"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Button type="submit" variant="outline" size="sm" disabled={busy || email === ''}>
          {busy ? 'Inviting...' : 'Invite'}
        </Button>
      </div>
      <p role="status" className={rows.caption}>
        {invited === null ? '' : `${invited} was invited.`}
      </p>
      <ErrorText>{errorMessage}</ErrorText>
    </form>
  )
}

/** Accounts with what they store, and nothing of what that is. */
export function PeopleList(): JSX.Element {
  const [page, setPage] = useState(1)
  const { data, isError } = useQuery({ ...peopleQuery(page), placeholderData: keepPreviousData })
  const pages = Math.ceil((data?.total ?? 0) / PEOPLE_PER_PAGE)
  return (
    <>
      <InviteForm />
      {data !== undefined && (
        <ul className={rows.list} aria-label="People">
          {data.people.map((person) => (
            <PersonRow key={person.id} person={person} />
          ))}
        </ul>
      )}
      {pages > 1 && (
        <div className={rows.actions}>
          <Button variant="outline" size="sm" disabled={page === 1} onClick={() => setPage(page - 1)}>
            Newer accounts
          </Button>
          <Button variant="outline" size="sm" disabled={page >= pages} onClick={() => setPage(page + 1)}>
            Older accounts
          </Button>
        </div>
      )}
      <ErrorText>{isError ? 'The people could not be listed.' : null}</ErrorText>
    </>
  )
}
