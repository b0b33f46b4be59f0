import { useQuery, useQueryClient } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import type { JSX } from 'react'
import type { OpenSession } from '#contract/auth.ts'
import { endOtherSessions, endSession, sessionsQuery } from '#web/data/account/account.ts'
import { formatDateLabel, formatTime } from '#web/lib/format/format-date.ts'
import { Button } from '#web/ui/button.tsx'
import { describeDevice } from './describe-device.ts'
import styles from '#web/ui/rows.module.css'
import { ErrorText, Section } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

function describeUse({ used_at: usedAt, address }: OpenSession): string {
  const used = `${formatDateLabel(usedAt)}, ${formatTime(usedAt)}`
  return address === null ? used : `${used} · ${address}`
}

function SessionRow({ session }: { session: OpenSession }): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const device = describeDevice(session.user_agent)
  return (
    <li>
      <div className={styles.row}>
        <div className={styles.words}>
          <p className={styles.value}>{device}</p>
          <p className={styles.caption}>{describeUse(session)}</p>
        </div>
        {session.is_current ? (
          <span className={styles.tag}>This device</span>
        ) : (
          <Button
            variant="ghost"
            size="icon"
            aria-label={`Sign out ${device}, last used ${describeUse(session)}`}
            disabled={busy}
            onClick={() => void run(() => endSession(queryClient, session))}
          >
            <LogOut size={15} />
          </Button>
        )}
      </div>
      <ErrorText>{errorMessage}</ErrorText>
    </li>
  )
}

export function SessionsSection(): JSX.Element {
  const queryClient = useQueryClient()
  const sessions = useQuery({ ...sessionsQuery, refetchOnMount: 'always' })
  const { busy, errorMessage, run } = useAttempt()
  return (
    <Section title="Devices">
      {sessions.isPending && <p className={styles.caption}>Looking where you are signed in</p>}
      {sessions.isError && (
        <>
          <ErrorText>Your devices could not be listed.</ErrorText>
          <Button variant="outline" size="sm" className={styles.start} onClick={() => void sessions.refetch()}>
            Try again
          </Button>
        </>
      )}
      {sessions.data !== undefined && (
        <ul className={styles.list} aria-label="Devices">
          {sessions.data.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
      )}
      {(sessions.data?.length ?? 0) > 1 && (
        <Button
          variant="outline"
          size="sm"
          className={styles.start}
          disabled={busy}
          onClick={() => void run(() => endOtherSessions(queryClient))}
        >
          Sign out everywhere else
        </Button>
      )}
      <ErrorText>{errorMessage}</ErrorText>
    </Section>
  )
}
