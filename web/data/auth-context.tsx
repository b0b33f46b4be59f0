import { createContext, useContext, useEffect, useMemo, useSyncExternalStore, type JSX, type ReactNode } from 'react'
import { onSessionState, sessionState, startSession, type User } from './session.ts'

export type Auth = { loading: boolean; user: User | null; error: string | null }

const AuthContext = createContext<Auth | null>(null)

/** Starts the session and tells everything below who is signed in. */
export function AuthProvider({ children }: { children: ReactNode }): JSX.Element {
  const { loading, session, error } = useSyncExternalStore(onSessionState, sessionState)
  useEffect(() => {
    void startSession()
  }, [])
  const user = session?.user ?? null
  const auth = useMemo(() => ({ loading, user, error }), [loading, user, error])
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
