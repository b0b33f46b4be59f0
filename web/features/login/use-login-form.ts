import { useState, type SyntheticEvent } from 'react'
import { signIn, signUp } from '#web/data/session.ts'
import { messageOr } from '#web/lib/error-message.ts'
import { toast } from '#web/ui/toast.tsx'

type LoginMode = 'sign-in' | 'sign-up'

type LoginForm = {
  mode: LoginMode
  email: string
  password: string
  busy: boolean
  error: string | null
  setEmail: (email: string) => void
  setPassword: (password: string) => void
  toggleMode: () => void
  submit: (event: SyntheticEvent) => void
}

async function attempt(mode: LoginMode, email: string, password: string): Promise<string | null> {
  if (mode === 'sign-in') {
    const { error } = await signIn(email, password)
    if (error === null) return null
    toast({
      title: 'Authentication Error',
      description: 'An error occurred during sign in',
      variant: 'destructive',
    })
    return messageOr(error, 'Authentication failed. Please check your credentials.')
  }
  const { error, confirmed } = await signUp(email, password)
  if (error !== null) {
    toast({
      title: 'Registration Error',
      description: 'An error occurred during registration',
      variant: 'destructive',
    })
    return messageOr(error, 'Registration failed. Please try again.')
  }
  if (!confirmed) {
    toast({
      title: 'Check your email',
      description: "We've sent you a confirmation link to complete your sign up.",
    })
  }
  return null
}

/** State and submission of the sign-in and sign-up form. A success is seen by the gate, which leaves the page. */
export function useLoginForm(): LoginForm {
  const [mode, setMode] = useState<LoginMode>('sign-in')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)

  const submit = async (): Promise<void> => {
    setError(null)
    setBusy(true)
    try {
      setError(await attempt(mode, email, password))
    } catch (failure) {
      console.error(failure)
      setError(messageOr(failure, 'There was an error processing your request.'))
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
    setEmail,
    setPassword,
    toggleMode: () => {
      setMode(mode === 'sign-in' ? 'sign-up' : 'sign-in')
      setError(null)
    },
    submit: (event) => {
      event.preventDefault()
      void submit()
    },
  }
}
