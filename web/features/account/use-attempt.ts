import { useState } from 'react'
import { accountErrorMessage } from '#web/data/account/account.ts'
import { apiErrorMessage } from '#web/data/client.ts'

export type Attempt = {
  busy: boolean
  /** The error message of the last attempt; null without an error. */
  refusal: string | null
  /** Runs one task at a time; resolves with whether it succeeded. */
  run: (task: () => Promise<void>) => Promise<boolean>
  forget: () => void
}

/** Runs the requests of a form, and holds the server's error message. */
export function useAttempt(): Attempt {
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string | null>(null)
  return {
    busy,
    refusal,
    forget: () => setRefusal(null),
    async run(task) {
      setBusy(true)
      setRefusal(null)
      try {
        await task()
        return true
      } catch (error) {
        console.error(error)
        setRefusal(
          apiErrorMessage(error) ?? accountErrorMessage(error) ?? 'The server could not be reached. Please try again.',
        )
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}
