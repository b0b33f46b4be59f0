import type { JSX } from 'react'
import { Button } from '#web/ui/button.tsx'
import styles from './login-form.module.css'

export function ConfirmationNotice({ sentTo, hasMailbox }: { sentTo: string; hasMailbox: boolean }): JSX.Element {
  return (
    // The pressed button is gone: focus the notice, so that screen readers read it.
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
