import { useState, type JSX } from 'react'
import type { ToolAnswer, ToolRequest } from '#contract/tool-server.ts'
import { apiErrorMessage } from '#web/data/client.ts'
import { answerToolRequest } from '#web/data/tool-servers.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './tool-consent.module.css'

/** Longer arguments are cut: the box has a limited height, and a browser may hide its scroll bar. */
const MAX_PREVIEW_LENGTH = 300

export default function ToolConsent({ request }: { request: ToolRequest }): JSX.Element {
  const [given, setGiven] = useState(false)
  const [refusal, setRefusal] = useState<string | null>(null)
  const answer = async (word: ToolAnswer): Promise<void> => {
    setGiven(true)
    setRefusal(null)
    try {
      await answerToolRequest(request.id, word)
    } catch (error) {
      console.error(error)
      setRefusal(apiErrorMessage(error) ?? 'Your answer did not arrive. Please try again.')
      setGiven(false)
    }
  }
  return (
    <section className={styles.consent} role="group" aria-label="Permission for a tool" data-text-end>
      <p>
        May <strong>{request.tool}</strong> of <strong>{request.server}</strong> be called with this?
      </p>
      <pre className={styles.arguments} role="region" aria-label="What it is called with" tabIndex={0}>
        {request.arguments}
      </pre>
      {request.arguments.length > MAX_PREVIEW_LENGTH && (
        <p className={styles.length}>
          All {request.arguments.length.toLocaleString('en')} characters are sent. Scroll to read the rest of them.
        </p>
      )}
      {refusal !== null && (
        <p role="alert" className={styles.refusal}>
          {refusal}
        </p>
      )}
      <div className={styles.actions}>
        <Button size="sm" disabled={given} onClick={() => void answer('once')}>
          Allow once
        </Button>
        <Button variant="outline" size="sm" disabled={given} onClick={() => void answer('conversation')}>
          Allow for this conversation
        </Button>
        <Button variant="ghost" size="sm" disabled={given} onClick={() => void answer('denied')}>
          Deny
        </Button>
      </div>
    </section>
  )
}
