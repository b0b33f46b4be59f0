import { useState } from 'react'
import { accountErrorMessage } from '#web/data/account/account.ts'
import { apiErrorMessage } from '#web/data/client.ts'
import { refusalMessage } from './refusal.ts'

export type Attempt = {
  busy: boolean
  errorMessage: string | null
  /** Runs one task at a time; resolves with whether it succeeded. */
  run: (task: () => Promise<void>) => Promise<boolean>
  clearError: () => void
}

export function useAttempt(): Attempt {
  const [busy, setBusy] = useState(false)
  const [errorMessage, setErrorMessage] = useState<string | null>(null)
  return {
    busy,
    errorMessage,
    clearError: () => setErrorMessage(null),
    async run(task) {
      setBusy(true)
      setErrorMessage(null)
      try {
        await task()
        return true
      } catch (error) {
        console.error(error)
        setErrorMessage(
          refusalMessage(error) ??
            apiErrorMessage(error) ??
            accountErrorMessage(error) ??
            'The server could not be reached. Please try again.',
        )
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}
