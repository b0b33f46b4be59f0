import { createContext, useContext, useEffect, useMemo, useSyncExternalStore, type JSX, type ReactNode } from 'react'
import { onSessionState, sessionState, startSession, type User } from './session.ts'

export type Auth = {
  loading: boolean
  user: User | null
  /** Whose password was right, while a second factor is still to be shown or set up; `user` is null until then. */
  halfway: User | null
  error: string | null
}

const AuthContext = createContext<Auth | null>(null)

/** Starts the session and tells everything below who is signed in. */
export function AuthProvider({ children }: { children: ReactNode }): JSX.Element {
  const { loading, session, wantsFactor, error } = useSyncExternalStore(onSessionState, sessionState)
  useEffect(() => {
    void startSession()
  }, [])
  const known = session?.user ?? null
  const user = wantsFactor ? null : known
  const halfway = wantsFactor ? known : null
  const auth = useMemo(() => ({ loading, user, halfway, error }), [loading, user, halfway, error])
  return <AuthContext value={auth}>{children}</AuthContext>
}

export function useAuth(): Auth {
  const auth = useContext(AuthContext)
  if (auth === null) throw new Error('useAuth must be used within an AuthProvider')
  return auth
}

/** The signed-in person, for everything behind the gate. */
export function useUser(): User {
  const { user } = useAuth()
  if (user === null) throw new Error('Nobody is signed in')
  return user
}
