import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { spaceEventsQuery } from '#web/data/spaces/events.ts'
import { peopleQuery } from '#web/data/spaces/members.ts'
import { formatDateLabel, formatTime } from '#web/lib/format/format-date.ts'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { describeEvent } from './describe-event.ts'
import styles from './space-settings.module.css'

export function SpaceEvents({ space }: { space: string }): JSX.Element {
  const events = useQuery(spaceEventsQuery(space))
  const { data: people } = useQuery(peopleQuery(space))
  const nameOf = (id: string | null): string =>
    people === undefined ? '…' : (people.find((person) => person.user_id === id)?.name ?? 'A former member')
  if (events.isError) return <ErrorText>What happened could not be listed.</ErrorText>
  return (
    <>
      <p className={rows.caption}>Only owners see this. It is stored for a year.</p>
      <ol className={styles.events} aria-label="What happened" tabIndex={0}>
        {events.data?.map((event) => (
          <li key={event.id} className={styles.event}>
            {describeEvent(event, nameOf)}
            <span className={styles.when}>
              {formatDateLabel(event.created_at)}, {formatTime(event.created_at)}
            </span>
          </li>
        ))}
      </ol>
    </>
  )
}
