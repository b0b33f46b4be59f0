import type { JSX } from 'react'
import { Button } from '#web/ui/button.tsx'
import styles from './login-form.module.css'

/** Where the confirmation link has gone, and the way to it where no mail leaves the machine. */
export function ConfirmationNotice({ sentTo, hasMailbox }: { sentTo: string; hasMailbox: boolean }): JSX.Element {
  return (
    // The button that was pressed is gone: the focus goes on here, and the words are read out with it.
    <div role="status" tabIndex={-1} ref={(notice) => notice?.focus()} className={styles.sent}>
      <p>
        <strong>Check your email.</strong> We’ve sent a confirmation link to {sentTo}. Follow it to complete your sign
        up.
      </p>
      {hasMailbox && (
        <>
          <p>This is a local set-up, whose mail goes no further than its own mailbox.</p>
          <Button variant="outline" asChild>
            <a href="/mailbox">Open the local mailbox</a>
          </Button>
        </>
      )}
    </div>
  )
}
