import { useState, type SyntheticEvent } from 'react'

type Step = {
  busy: boolean
  error: string | null
  /** Runs a task; what it throws is shown in its own words. Resolves with whether it went well. */
  run: (task: () => Promise<void>) => Promise<boolean>
  /** The handler of a form that does so when it is submitted. */
  submit: (task: () => Promise<void>) => (event: SyntheticEvent) => void
}

/** One step of signing in that asks the server. */
export function useStep(): Step {
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
