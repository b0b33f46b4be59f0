import { useState, type SyntheticEvent } from 'react'
import { signIn, signUp } from '#web/data/auth/session.ts'
import { errorMessageOr } from '#web/lib/format/error-message.ts'
import { toast } from '#web/ui/toast.tsx'

type LoginMode = 'sign-in' | 'sign-up'

type LoginForm = {
  mode: LoginMode
  email: string
  password: string
  busy: boolean
  error: string | null
  /** The address that received a confirmation link; null before. */
  confirmationTo: string | null
  setEmail: (email: string) => void
  setPassword: (password: string) => void
  toggleMode: () => void
  changeAddress: () => void
  submit: (event: SyntheticEvent) => void
}

type Outcome = { error: string | null; isConfirmationSent: boolean }

const DONE: Outcome = { error: null, isConfirmationSent: false }
const failed = (error: string): Outcome => ({ error, isConfirmationSent: false })

async function attempt(mode: LoginMode, email: string, password: string): Promise<Outcome> {
  if (mode === 'sign-in') {
    const { error } = await signIn(email, password)
    if (error === null) return DONE
    toast({
      title: 'Authentication Error',
      description: 'An error occurred during sign in',
      variant: 'destructive',
    })
    return failed(errorMessageOr(error, 'Authentication failed. Please check your credentials.'))
  }
  const { error, confirmed } = await signUp(email, password)
  if (error !== null) {
    toast({
      title: 'Registration Error',
      description: 'An error occurred during registration',
      variant: 'destructive',
    })
    return failed(errorMessageOr(error, 'Registration failed. Please try again.'))
  }
  if (confirmed) return DONE
  toast({
    title: 'Check your email',
    description: "We've sent you a confirmation link to complete your sign up.",
  })
  return { error: null, isConfirmationSent: true }
}

/** State and submission of the sign-in and sign-up form. On success the auth gate leaves the page. */
export function useLoginForm(): LoginForm {
  const [mode, setMode] = useState<LoginMode>('sign-in')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const [confirmationTo, setConfirmationTo] = useState<string | null>(null)

  const submit = async (): Promise<void> => {
    setError(null)
    setConfirmationTo(null)
    setBusy(true)
    try {
      const outcome = await attempt(mode, email, password)
      setError(outcome.error)
      if (!outcome.isConfirmationSent) return
      setConfirmationTo(email)
      setPassword('')
    } catch (failure) {
      console.error(failure)
      setError(errorMessageOr(failure, 'There was an error processing your request.'))
    } finally {
      setBusy(false)
    }
  }

  return {
    mode,
    email,
    password,
    busy,
    error,
    confirmationTo,
    setEmail,
    setPassword,
    toggleMode: () => {
      setMode(mode === 'sign-in' ? 'sign-up' : 'sign-in')
      setError(null)
      setConfirmationTo(null)
    },
    changeAddress: () => setConfirmationTo(null),
    submit: (event) => {
      event.preventDefault()
      void submit()
    },
  }
}
