/** The person's session: kept in storage, refreshed in time and shared between tabs by auth-js. */
import { AuthClient, type AuthChangeEvent, type AuthError, type Session, type User } from '@supabase/auth-js'
import { config, loadConfig } from './config.ts'

export type SessionState = { loading: boolean; session: Session | null; error: string | null }

type Client = InstanceType<typeof AuthClient>

const NOT_STARTED = 'Error initializing authentication service'

let client: Client | null = null
let state: SessionState = { loading: true, session: null, error: null }
const listeners = new Set<() => void>()
const eventListeners = new Set<(event: AuthChangeEvent) => void>()

function setState(next: Partial<SessionState>): void {
  state = { ...state, ...next }
  for (const notify of listeners) notify()
}

function auth(): Client {
  if (client === null) throw new Error(NOT_STARTED)
  return client
}

/** Starts the session where the first attempt failed, because the server was out of reach. */
async function startedAuth(): Promise<Client> {
  if (client === null) await startSession()
  return auth()
}

export function sessionState(): SessionState {
  return state
}

export function onSessionState(changed: () => void): () => void {
  listeners.add(changed)
  return () => listeners.delete(changed)
}

/** Calls back on every event of the session, such as TOKEN_REFRESHED. Returns the function that ends it. */
export function onSessionEvent(listener: (event: AuthChangeEvent) => void): () => void {
  eventListeners.add(listener)
  return () => eventListeners.delete(listener)
}

/** Reads the stored session (or the one in the address, after a link of a mail) and follows it from then on. */
export async function startSession(): Promise<void> {
  if (client !== null) return
  try {
    const { supabaseUrl, supabaseAnonKey } = await loadConfig()
    client = new AuthClient({
      url: new URL(`${supabaseUrl}/auth/v1`, location.origin).href,
      headers: { apikey: supabaseAnonKey, Authorization: `Bearer ${supabaseAnonKey}` },
      storageKey: 'alcove-session',
      persistSession: true,
      autoRefreshToken: true,
      detectSessionInUrl: true,
    })
    const started = await client.initialize()
    client.onAuthStateChange((event, session) => {
      setState({ session, ...(session === null ? {} : { error: null }) })
      for (const listener of eventListeners) listener(event)
    })
    const { data, error } = await client.getSession()
    if (error !== null) console.error(error)
    const failure = error === null ? (started.error?.message ?? null) : 'Failed to connect to authentication service'
    setState({ loading: false, session: data.session, error: failure })
  } catch (error) {
    console.error(error)
    setState({ loading: false, error: NOT_STARTED })
  }
}

export async function signIn(email: string, password: string): Promise<{ error: AuthError | null }> {
  const { error } = await (await startedAuth()).signInWithPassword({ email, password })
  return { error }
}

/** Signs up; `confirmed` is false while the link of the confirmation mail has not been opened. */
export async function signUp(
  email: string,
  password: string,
): Promise<{ error: AuthError | null; confirmed: boolean }> {
  const { data, error } = await (
    await startedAuth()
  ).signUp({ email, password, options: { emailRedirectTo: `${location.origin}/` } })
  return { error, confirmed: data.session !== null }
}

export async function signOut(): Promise<{ error: AuthError | null }> {
  return await auth().signOut()
}

/** The access token of now, refreshed when it has expired; null when nobody is signed in. */
export async function accessToken(): Promise<string | null> {
  const { data } = await auth().getSession()
  return data.session?.access_token ?? null
}

export function anonKey(): string {
  return config().supabaseAnonKey
}

export type { User }
