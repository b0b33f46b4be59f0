import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { JSX } from 'react'
import { revokeLink, spaceLinksQuery } from '#web/data/spaces/links.ts'
import { peopleQuery } from '#web/data/spaces/members.ts'
import { LinkRow } from '#web/features/spaces/links/link-row.tsx'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'

/** The open links to conversations of a space, also of an archived one. */
export function SpaceLinks({ space }: { space: string }): JSX.Element {
  const queryClient = useQueryClient()
  const links = useQuery(spaceLinksQuery(space))
  const { data: people } = useQuery(peopleQuery(space))
  const makerOf = (id: string): string =>
    people === undefined ? '…' : (people.find((person) => person.user_id === id)?.name ?? 'a former member')
  if (links.isError) return <ErrorText>The links could not be listed.</ErrorText>
  if (links.data?.length === 0)
    return <p className={rows.caption}>None. A link shows one conversation to people outside of the space.</p>
  return (
    <ul className={rows.list} aria-label="Links">
      {links.data?.map((link) => (
        <LinkRow
          key={link.id}
          link={link}
          title={activeTitle(link.conversations)}
          maker={makerOf(link.created_by)}
          onRevoke={() => revokeLink(queryClient, link.conversation_id, link.id)}
        />
      ))}
    </ul>
  )
}
