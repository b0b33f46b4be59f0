import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import type { CreatedLink, ListedLink } from '#contract/space.ts'
import { linksQuery, makeLink, revokeLink } from '#web/data/spaces/links.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { formatDay } from '#web/lib/format/format-day.ts'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { MadeLinkField } from './made-link-field.tsx'
import styles from './links-dialog.module.css'

const LENGTHS = [
  { value: '7', label: 'For a week' },
  { value: '30', label: 'For 30 days' },
  { value: '90', label: 'For three months' },
  { value: '365', label: 'For a year' },
]

type LinksDialogProps = { conversation: ConversationRow; onClose: () => void }

export function LinksDialog({ conversation, onClose }: LinksDialogProps): JSX.Element {
  const queryClient = useQueryClient()
  const links = useQuery(linksQuery(conversation.id))
  const [days, setDays] = useState('30')
  const [made, setMade] = useState<CreatedLink | null>(null)
  const { busy, errorMessage, run } = useAttempt()
  const make = (): void =>
    void run(async () => setMade(await makeLink(queryClient, conversation.id, { days: Number(days), anybody: false })))
  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      title="Links to read it"
      description={`Signed-in people who have the link read “${activeTitle(conversation)}” with the passages that it cites, and no whole documents. They see what is added later too.`}
    >
      <div className={rows.dialog}>
        <div className={styles.make}>
          <SelectField label="How long" value={days} options={LENGTHS} onChange={setDays} />
          <Button disabled={busy} onClick={make}>
            {busy ? 'Making...' : 'Make a link'}
          </Button>
        </div>
        <ErrorText>{errorMessage}</ErrorText>
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

function LinkRow({ link, onRevoke }: { link: ListedLink; onRevoke: () => Promise<void> }): JSX.Element {
  const { busy, errorMessage, run } = useAttempt()
  const made = formatDay(link.created_at)
  return (
    <li>
      <div className={rows.row}>
        <div className={rows.words}>
          <p className={rows.value}>Made on {made}</p>
          <p className={rows.caption}>
            {link.for_anybody ? 'For anybody' : 'For signed-in people'} · ends on {formatDay(link.expires_at)}
          </p>
        </div>
        <Button
          variant="ghost"
          size="sm"
          className={rows.danger}
          disabled={busy}
          aria-label={`Revoke the link made on ${made}`}
          onClick={() => void run(onRevoke)}
        >
          Revoke
        </Button>
      </div>
      <ErrorText>{errorMessage}</ErrorText>
    </li>
  )
}
