import { useState } from 'react'
import { accountErrorMessage } from '#web/data/account/account.ts'
import { apiErrorMessage } from '#web/data/client.ts'

export type Attempt = {
  busy: boolean
  /** What was wrong with the last attempt; null where nothing was. */
  refusal: string | null
  /** Runs a task once at a time; resolves with whether it went well. */
  run: (task: () => Promise<void>) => Promise<boolean>
  /** Takes the refusal away: something else is being entered. */
  forget: () => void
}

/** A task of a form that the server may refuse in words. */
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
