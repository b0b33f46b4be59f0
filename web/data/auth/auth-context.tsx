import { createContext, useContext, useEffect, useMemo, useSyncExternalStore, type JSX, type ReactNode } from 'react'
import { subscribeToSessionState, sessionState, startSession, type User } from './session.ts'

export type Auth = {
  loading: boolean
  user: User | null
  /** The person whose password was accepted and whose second factor is missing; `user` is null meanwhile. */
  userAtSecondFactor: User | null
  /** The account that a link leads into, which the person may continue as. */
  offeredEmail: string | null
  error: string | null
}

const AuthContext = createContext<Auth | null>(null)

export function AuthProvider({ children }: { children: ReactNode }): JSX.Element {
  const { loading, session, needsSecondFactor, offer, error } = useSyncExternalStore(
    subscribeToSessionState,
    sessionState,
  )
  useEffect(() => {
    void startSession()
  }, [])
  const known = session?.user ?? null
  const user = needsSecondFactor ? null : known
  const userAtSecondFactor = needsSecondFactor ? known : null
  const offeredEmail = offer?.email ?? null
  const auth = useMemo(
    () => ({ loading, user, userAtSecondFactor, offeredEmail, error }),
    [loading, user, userAtSecondFactor, offeredEmail, error],
  )
  return <AuthContext value={auth}>{children}</AuthContext>
}

export function useAuth(): Auth {
  const auth = useContext(AuthContext)
  if (auth === null) throw new Error('useAuth must be used within an AuthProvider')
  return auth
}

/** @throws outside the auth gate */
export function useUser(): User {
  const { user } = useAuth()
  if (user === null) throw new Error('Nobody is signed in')
  return user
}
