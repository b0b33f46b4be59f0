import type { JSX } from 'react'
import type { ListedLink } from '#contract/space.ts'
import { config } from '#web/data/config.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { formatDay } from '#web/lib/format/format-day.ts'
import { Button } from '#web/ui/button.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'

type LinkRowProps = {
  link: ListedLink
  /** Where the conversation is not the subject of the list. */
  title?: string
  /** The name of the person who made it. */
  maker?: string
  onRevoke: () => Promise<void>
}

function describeReaders({ for_anybody: isForAnybody }: ListedLink): string {
  if (!isForAnybody) return 'For signed-in people'
  return config().hasPublicLinks ? 'For anybody' : 'For signed-in people: links for anybody are off on this server'
}

export function LinkRow({ link, title, maker, onRevoke }: LinkRowProps): JSX.Element {
  const { busy, errorMessage, run } = useAttempt()
  const made = formatDay(link.created_at)
  const by = maker === undefined ? `Made on ${made}` : `Made by ${maker} on ${made}`
  return (
    <li>
      <div className={rows.row}>
        <div className={rows.words}>
          <p className={rows.value} dir="auto">
            {title ?? by}
          </p>
          {title !== undefined && <p className={rows.caption}>{by}</p>}
          <p className={rows.caption}>
            {describeReaders(link)} · ends on {formatDay(link.expires_at)}
          </p>
        </div>
        <Button
          variant="ghost"
          size="sm"
          className={rows.danger}
          disabled={busy}
          aria-label={`Revoke the link${title === undefined ? '' : ` to “${title}”`} made on ${made}`}
          onClick={() => void run(onRevoke)}
        >
          Revoke
        </Button>
      </div>
      <ErrorText>{errorMessage}</ErrorText>
    </li>
  )
}
