import { useQuery } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { peopleQuery } from '#web/data/spaces/members.ts'
import { usePresence } from '#web/data/spaces/presence.ts'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import type { OwnSpace } from '#web/data/spaces/spaces.ts'
import { Button } from '#web/ui/button.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import { ErrorText } from '#web/ui/section.tsx'
import rows from '#web/ui/rows.module.css'
import { InviteForm } from './invite-form.tsx'
import { LeaveSpace } from './leave-space.tsx'
import { MemberRow } from './member-row.tsx'
import { OpenInvitations } from './open-invitations.tsx'
import styles from './members.module.css'

/** The members of the current space; nothing in Personal. */
export function MembersSection(): JSX.Element | null {
  const space = useCurrentSpace()
  return space ? <Members space={space} /> : null
}

function Members({ space }: { space: OwnSpace }): JSX.Element {
  const { id: userId } = useUser()
  const people = useQuery(peopleQuery(space.id))
  const present = usePresence((state) => state.people)
  const [isInviting, setInviting] = useState(false)
  const opener = useFocusAfterField(isInviting)
  const here = new Set([userId, ...present.map(({ user }) => user)])
  const isOwner = space.role === 'owner'
  const members = people.data ?? []
  const isSoleOwner = isOwner && members.filter(({ role }) => role === 'owner').length === 1
  const count = members.filter(({ user_id: id }) => here.has(id)).length
  return (
    <section className={styles.members} aria-labelledby="members-heading">
      <h2 id="members-heading" className={styles.heading}>
        Members
      </h2>
      <div className={styles.section}>
        {people.isError && <ErrorText>The members could not be listed.</ErrorText>}
        {people.data !== undefined && (
          <p className={rows.caption} role="status">
            {members.length === 1 ? 'Only you so far' : `${members.length} members, ${count} here now`}
          </p>
        )}
        <ul className={styles.list} aria-label="Members">
          {members.map((person) => (
            <MemberRow
              key={person.user_id}
              space={space.id}
              person={person}
              isSelf={person.user_id === userId}
              isHere={here.has(person.user_id)}
              mayChange={isOwner && !(isSoleOwner && person.user_id === userId)}
              ownId={userId}
            />
          ))}
        </ul>
        {isOwner && !isInviting && (
          <Button ref={opener} variant="outline" size="sm" className={rows.start} onClick={() => setInviting(true)}>
            Invite by e-mail
          </Button>
        )}
        {isOwner && isInviting && <InviteForm space={space.id} onDone={() => setInviting(false)} />}
      </div>
      {isOwner && <OpenInvitations space={space.id} />}
      <LeaveSpace space={space} userId={userId} isSoleOwner={isSoleOwner} />
    </section>
  )
}
