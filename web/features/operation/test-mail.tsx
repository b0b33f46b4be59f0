import { useState, type JSX } from 'react'
import type { TestMailAnswer } from '#contract/operation.ts'
import { sendTestMail } from '#web/data/operation/operation.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'

/** Sends a mail to the operator and shows what the mail server answers. */
export function TestMail(): JSX.Element {
  const { busy, errorMessage, run } = useAttempt()
  const [outcome, setOutcome] = useState<TestMailAnswer | null>(null)
  return (
    <div className={rows.list}>
      <Button
        variant="outline"
        size="sm"
        className={rows.start}
        disabled={busy}
        onClick={() => void run(async () => setOutcome(await sendTestMail()))}
      >
        {busy ? 'Sending...' : 'Send a test mail to yourself'}
      </Button>
      <p role="status" className={rows.caption}>
        {outcome === null ? '' : `${outcome.sent ? 'Sent.' : 'Not sent.'} ${outcome.answer}`}
      </p>
      <ErrorText>{errorMessage}</ErrorText>
    </div>
  )
}
