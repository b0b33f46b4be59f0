import { useState, type SyntheticEvent } from 'react'

type SignInStep = {
  busy: boolean
  error: string | null
  /** Runs a task and shows its error message. Resolves with whether it succeeded. */
  run: (task: () => Promise<void>) => Promise<boolean>
  submit: (task: () => Promise<void>) => (event: SyntheticEvent) => void
}

export function useSignInStep(): SignInStep {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)

  const run = async (task: () => Promise<void>): Promise<boolean> => {
    setBusy(true)
    setError(null)
    try {
      await task()
      return true
    } catch (failure) {
      console.error(failure)
      setError((failure instanceof Error && failure.message) || 'There was an error processing your request.')
      return false
    } finally {
      setBusy(false)
    }
  }

  return {
    busy,
    error,
    run,
    submit: (task) => (event) => {
      event.preventDefault()
      void run(task)
    },
  }
}
