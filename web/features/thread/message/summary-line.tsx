import { useQuery } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import { useModelLabel } from '#web/data/models.ts'
import { summaryQuery } from '#web/data/summaries.ts'
import styles from './message.module.css'

export function SummaryLine({ summaryId }: { summaryId: string }): JSX.Element {
  const [open, setOpen] = useState(false)
  const { data, isPending, isError } = useQuery({ ...summaryQuery(summaryId), enabled: open })
  const label = useModelLabel()
  return (
    <details className={styles.tool} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Earlier messages were summarised</summary>
      <div className={styles.toolContent}>
        {isPending && 'Loading the summary…'}
        {isError && 'The summary could not be loaded.'}
        {data === null && 'One of those messages has changed since, so this summary is no longer kept.'}
        {data && `${data.content}\n\nBy ${label(data.model)}, of ${data.messages} messages.`}
      </div>
    </details>
  )
}
