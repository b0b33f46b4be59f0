import { useQuery } from '@tanstack/react-query'
import type { JSX, ReactNode } from 'react'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import { peopleQuery } from '#web/data/spaces/members.ts'
import { usePresence } from '#web/data/spaces/presence.ts'
import { mayEdit } from '#web/data/spaces/space-rights.ts'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import { withArticle } from '#web/features/spaces/role-words.ts'
import { SpaceMark } from '#web/features/spaces/space-mark.tsx'
import { count } from '#web/lib/format/count.ts'
import styles from './space-start.module.css'

type SpaceStartProps = {
  space: string
  documents: ReactNode
  /** Takes documents, where there are none and the person may add some. */
  uploadArea: ReactNode
}

/** The start page of a space: what it is, and its documents. */
export function SpaceStart({ space: id, documents, uploadArea }: SpaceStartProps): JSX.Element | null {
  const space = useCurrentSpace()
  const { data: people = [] } = useQuery(peopleQuery(id))
  const { data: counts } = useQuery(documentCountsQuery(id))
  const here = usePresence((state) => new Set(state.people.map(({ user }) => user)).size)
  if (!space) return null
  const isEmpty = counts?.total === 0
  const facts = [
    ...(people.length > 1 ? [count(people.length, 'member', 'members')] : ['Only you see it']),
    ...(here > 1 ? [`${here} here now`] : []),
    ...(space.role === 'owner' ? [] : [`you are ${withArticle(space.role)}`]),
    ...(space.archived_at === null ? [] : ['archived']),
  ]
  return (
    <div className={styles.start}>
      <header>
        <h1 className={styles.title} dir="auto">
          <SpaceMark color={space.color} /> {space.name}
        </h1>
        <p className={styles.facts}>{facts.join(' · ')}</p>
        {space.instructions !== '' && (
          <p className={styles.instructions} dir="auto" title="Instructions for every answer in this space">
            {space.instructions}
          </p>
        )}
      </header>
      {isEmpty && mayEdit(space) && (
        <section className={styles.empty} aria-label="First documents">
          <p className={styles.words}>
            Add the documents that this space is about. Questions here are answered from them.
          </p>
          {uploadArea}
        </section>
      )}
      {isEmpty && !mayEdit(space) && <p className={styles.words}>There are no documents here yet.</p>}
      {counts !== undefined && !isEmpty && documents}
    </div>
  )
}
