import type { JSX } from 'react'
import type { OwnSpace } from '#web/data/spaces/spaces.ts'
import { mayEdit } from '#web/data/spaces/space-rights.ts'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import { Section } from '#web/ui/section.tsx'
import { ArchiveSpace } from './archive-space.tsx'
import { DeleteSpace } from './delete-space.tsx'
import { InstructionsField } from './instructions-field.tsx'
import { LookFields } from './look-fields.tsx'
import { SpaceKeys } from './space-keys.tsx'
import { SpaceLinks } from './space-links.tsx'
import { SpaceEvents } from './space-events.tsx'
import { SpaceModel } from './space-model.tsx'
import styles from './space-settings.module.css'

/** The settings of the current space; nothing in Personal. */
export function SpaceSettings(): JSX.Element | null {
  const space = useCurrentSpace()
  return space ? <Settings key={space.id} space={space} /> : null
}

function Settings({ space }: { space: OwnSpace }): JSX.Element {
  const mayChange = mayEdit(space)
  const isOwner = space.role === 'owner'
  return (
    <section className={styles.settings} aria-labelledby="space-settings-heading">
      <h2 id="space-settings-heading" className={styles.heading}>
        Space
      </h2>
      <Section title="Instructions">
        <InstructionsField space={space} mayChange={mayChange} />
      </Section>
      <Section title="Name and model">
        <LookFields space={space} mayChange={mayChange} />
        <SpaceModel space={space} mayChange={mayChange} />
      </Section>
      {isOwner && (
        <Section title="Model keys">
          <SpaceKeys space={space.id} isArchived={space.archived_at !== null} />
        </Section>
      )}
      {space.role !== 'reader' && (
        <Section title="Links">
          <SpaceLinks space={space.id} />
        </Section>
      )}
      {isOwner && (
        <Section title="What happened">
          <SpaceEvents space={space.id} />
        </Section>
      )}
      {isOwner && (
        <Section title="Archive or delete">
          <ArchiveSpace space={space} />
          <DeleteSpace space={space} />
        </Section>
      )}
    </section>
  )
}
