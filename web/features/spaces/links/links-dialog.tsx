import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import type { CreatedLink } from '#contract/space.ts'
import { config } from '#web/data/config.ts'
import { linksQuery, makeLink, revokeLink } from '#web/data/spaces/links.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { LinkRow } from './link-row.tsx'
import { MadeLinkField } from './made-link-field.tsx'
import styles from './links-dialog.module.css'

const LENGTHS = [
  { value: '7', label: 'For a week' },
  { value: '30', label: 'For 30 days' },
  { value: '90', label: 'For three months' },
  { value: '365', label: 'For a year' },
]

const SIGNED_IN = 'signed-in'
const ANYBODY = 'anybody'
const READERS = [
  { value: SIGNED_IN, label: 'Signed-in people' },
  { value: ANYBODY, label: 'Anybody who has the link' },
]

type LinksDialogProps = {
  conversation: ConversationRow
  /** No: the space is archived. */
  mayMake: boolean
  onClose: () => void
}

export function LinksDialog({ conversation, mayMake, onClose }: LinksDialogProps): JSX.Element {
  const queryClient = useQueryClient()
  const links = useQuery(linksQuery(conversation.id))
  const [made, setMade] = useState<CreatedLink | null>(null)
  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      title="Links to read it"
      description={`People who have the link read “${activeTitle(conversation)}” with the passages that it cites, and no whole documents. They see what is added later too.`}
    >
      <div className={rows.dialog}>
        {mayMake ? (
          <MakeLink conversationId={conversation.id} onMade={setMade} />
        ) : (
          <p className={rows.caption}>This space is archived: no new links are made.</p>
        )}
        {made !== null && <MadeLinkField link={made} />}
        {links.isError && <ErrorText>The links could not be listed.</ErrorText>}
        {(links.data?.length ?? 0) > 0 && (
          <ul className={rows.list} aria-label="Links">
            {links.data?.map((link) => (
              <LinkRow
                key={link.id}
                link={link}
                onRevoke={async () => {
                  await revokeLink(queryClient, conversation.id, link.id)
                  if (made?.id === link.id) setMade(null)
                }}
              />
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  )
}

function MakeLink({
  conversationId,
  onMade,
}: {
  conversationId: string
  onMade: (link: CreatedLink) => void
}): JSX.Element {
  const queryClient = useQueryClient()
  const [days, setDays] = useState('30')
  const [readers, setReaders] = useState(SIGNED_IN)
  const { busy, errorMessage, run } = useAttempt()
  const anybody = readers === ANYBODY
  const make = (): void =>
    void run(async () => onMade(await makeLink(queryClient, conversationId, { days: Number(days), anybody })))
  return (
    <>
      <div className={styles.make}>
        <SelectField label="How long" value={days} options={LENGTHS} onChange={setDays} />
        {config().hasPublicLinks && (
          <SelectField label="Who can open it" value={readers} options={READERS} onChange={setReaders} />
        )}
        <Button disabled={busy} onClick={make}>
          {busy ? 'Making...' : 'Make a link'}
        </Button>
      </div>
      <p className={anybody ? styles.warning : rows.caption} role="status">
        {anybody
          ? 'Anyone who gets this link reads the conversation without an account, and you cannot see who does. Revoke it to end that.'
          : 'Only people with an account on this server can open it.'}
      </p>
      <ErrorText>{errorMessage}</ErrorText>
    </>
  )
}
