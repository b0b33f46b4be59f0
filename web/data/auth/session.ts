import { AuthClient, type AuthChangeEvent, type AuthError, type Session, type User } from '@supabase/auth-js'
import { config, loadConfig } from '#web/data/config.ts'
import { ownAddress, ownName } from '#web/data/base-path.ts'
import { localStore } from '#web/data/storage/text-store.ts'
import { type Arrival, takeArrival, takeFirstArrival } from './arrival.ts'
import { createAuthFetch } from './auth-fetch.ts'
import type { OfferedSession } from './offered-session.ts'
import { createSessionStore } from './session-store.ts'
import { claimsOf, isOfSamePerson } from './token-claims.ts'

export type SessionState = {
  loading: boolean
  session: Session | null
  /** The password was accepted and a second factor is missing; the server rejects everything else. */
  needsSecondFactor: boolean
  /** A session that an address brought, which a click may open while no other is open. */
  offer: OfferedSession | null
  error: string | null
}

type Client = InstanceType<typeof AuthClient>

const NOT_STARTED = 'Error initializing authentication service'
const UNREACHABLE = 'Failed to connect to authentication service'

const STORAGE_KEY = ownName('alcove-session')

const store = createSessionStore(
  {
    getItem: localStore.getItem,
    setItem: (key, text) => localStore.setItem(key, text, 'session'),
    removeItem: localStore.removeItem,
  },
  STORAGE_KEY,
)

let client: Client | null = null
/** The session of the last event: another tab announces its session before it is in this tab's storage. */
let announcedSession: Session | null = null
let state: SessionState = { loading: true, session: null, needsSecondFactor: false, offer: null, error: null }
const listeners = new Set<() => void>()
const eventListeners = new Set<(event: AuthChangeEvent) => void>()

function setState(next: Partial<SessionState>): void {
  state = { ...state, ...next }
  for (const notify of listeners) notify()
}

export const hasVerifiedFactor = ({ factors = [] }: Pick<User, 'factors'>): boolean =>
  factors.some(({ status }) => status === 'verified')

/** The server set no password, as several people had asked for the account before its address was confirmed. */
export const needsPassword = ({ app_metadata }: Pick<User, 'app_metadata'>): boolean =>
  app_metadata['needs_password'] === true

const needsFactor = (session: Session | null): boolean =>
  session !== null &&
  (hasVerifiedFactor(session.user) || config().requiresSecondFactor) &&
  claimsOf(session.access_token)['aal'] !== 'aal2'

const stateOf = (session: Session | null) => ({ session, needsSecondFactor: needsFactor(session) })

function startedClient(): Client {
  if (client === null) throw new Error(NOT_STARTED)
  return client
}

/** The auth client; retries the start if the server was unreachable before. */
export async function authClient(): Promise<Client> {
  if (client === null) await startSession()
  return startedClient()
}

export function sessionState(): SessionState {
  return state
}

export function subscribeToSessionState(changed: () => void): () => void {
  listeners.add(changed)
  return () => listeners.delete(changed)
}

export function onSessionEvent(listener: (event: AuthChangeEvent) => void): () => void {
  eventListeners.add(listener)
  return () => eventListeners.delete(listener)
}

function clientOptions(): { url: string; headers: Record<string, string> } {
  const { supabaseUrl, supabaseAnonKey } = config()
  return {
    url: new URL(`${supabaseUrl}/auth/v1`, location.origin).href,
    headers: { apikey: supabaseAnonKey, Authorization: `Bearer ${supabaseAnonKey}` },
  }
}

/** A client without storage, so that nothing it does replaces the stored session. */
const detachedClient = (): Client =>
  new AuthClient({ ...clientOptions(), persistSession: false, autoRefreshToken: false, detectSessionInUrl: false })

/** @returns the code of a failure */
async function exchangeCode({ code, flowId }: { code: string; flowId: string }): Promise<string | null> {
  // A flow that this browser did not begin has no verifier here; the code is not used up.
  const { error } = await startedClient().exchangeCodeForSession(code, { flowId })
  if (error === null) return null
  console.error(error)
  return error.name === 'AuthPKCECodeVerifierMissingError' ? 'other_browser' : (error.code ?? 'unexpected_failure')
}

/**
 * The link is used up already, so that an offer over an open session waits until that one is signed out.
 * @returns the code of a failure
 */
async function offerSession(tokens: { accessToken: string; refreshToken: string }): Promise<string | null> {
  const { data } = await startedClient().getSession()
  const { describeOffer, revokeOffer } = await import('./offered-session.ts')
  const offer = await describeOffer(detachedClient(), tokens)
  if (offer === null) return 'otp_expired'
  if (data.session?.user.id === offer.userId) {
    await revokeOffer(detachedClient(), offer)
    return null
  }
  const earlier = state.offer
  setState({ offer })
  if (earlier !== null && earlier.tokens.accessToken !== tokens.accessToken) {
    await revokeOffer(detachedClient(), earlier)
  }
  return data.session === null && !hasStoredSession() ? null : 'session_open'
}

/** @returns what went wrong, in the page's own words */
async function receive(arrival: Arrival | null): Promise<string | null> {
  if (arrival === null) return null
  const failure =
    arrival.kind === 'code'
      ? await exchangeCode(arrival)
      : arrival.kind === 'tokens'
        ? await offerSession(arrival)
        : arrival.code
  return failure === null ? null : (await import('./arrival-failures.ts')).describeFailure(failure)
}

/** An address with another fragment does not load the page again. */
function followFragments(): void {
  addEventListener('hashchange', () => {
    const arrival = takeArrival()
    if (arrival === null) return
    receive(arrival).then(
      (error) => {
        if (error !== null) setState({ error })
      },
      (error: unknown) => console.error(error),
    )
  })
}

/**
 * Opens the offered session, unless another one was opened meanwhile, in whichever tab.
 * @throws if it is not accepted, or a stored session can neither be refreshed nor has ended
 */
export async function acceptOffer(): Promise<void> {
  const { offer } = state
  if (offer === null) return
  const { data } = await startedClient().getSession()
  if (data.session !== null) return declineOffer()
  if (hasStoredSession()) throw new Error(UNREACHABLE)
  const { redeemOffer } = await import('./offered-session.ts')
  const { access_token, refresh_token } = await redeemOffer(detachedClient(), offer)
  const { error } = await startedClient().setSession({ access_token, refresh_token })
  if (error !== null) throw error
  setState({ offer: null })
}

export async function declineOffer(): Promise<void> {
  const { offer } = state
  setState({ offer: null })
  if (offer === null) return
  const { revokeOffer } = await import('./offered-session.ts')
  await revokeOffer(detachedClient(), offer)
}

/** As the auth client sends: once more where the person's token has expired by the server's clock. */
export const fetchWithRenewal = createAuthFetch({ replacementOf: store.replacementOf, renew: renewToken })

/** Reads the stored session and what the address of a mail link brought, and follows the session from then on. */
export async function startSession(): Promise<void> {
  if (client !== null) return
  try {
    await loadConfig()
    client = new AuthClient({
      ...clientOptions(),
      storageKey: STORAGE_KEY,
      storage: store,
      fetch: fetchWithRenewal,
      persistSession: true,
      autoRefreshToken: true,
      // Only this page reads its address, and each flow has its own verifier.
      detectSessionInUrl: false,
      flowType: 'pkce',
      experimental: { appendPkceFlowIdToRedirects: true },
    })
    await client.initialize()
    client.onAuthStateChange((event, session) => {
      announcedSession = session
      // Another page may have signed out or let another person in, and it cannot remove what only this page has.
      if (event === 'SIGNED_OUT' || (session !== null && !store.isOf(session.user.id)))
        localStore.forgetUnstored(STORAGE_KEY)
      setState({ ...stateOf(session), ...(session !== null || event === 'SIGNED_OUT' ? { error: null } : {}) })
      for (const listener of eventListeners) listener(event)
    })
    followFragments()
    const arrivalError = await receive(takeFirstArrival())
    const { data, error } = await client.getSession()
    if (error !== null) console.error(error)
    const failure = error === null ? arrivalError : UNREACHABLE
    setState({ loading: false, ...stateOf(data.session), error: failure })
  } catch (error) {
    console.error(error)
    setState({ loading: false, error: NOT_STARTED })
  }
}

export async function signIn(email: string, password: string): Promise<{ error: AuthError | null }> {
  const { error } = await (await authClient()).signInWithPassword({ email, password })
  return { error }
}

export async function signUp(
  email: string,
  password: string,
): Promise<{ error: AuthError | null; confirmed: boolean }> {
  const { data, error } = await (
    await authClient()
  ).signUp({ email, password, options: { emailRedirectTo: ownAddress('/login') } })
  return { error, confirmed: data.session !== null }
}

let signingOut: Promise<{ error: AuthError | null }> | null = null

export async function signOut(): Promise<{ error: AuthError | null }> {
  signingOut ??= startedClient()
    .signOut()
    .finally(() => {
      signingOut = null
    })
  return signingOut
}

const SESSION_ENDED_CODES = new Set(['session_not_found', 'user_not_found', 'user_banned', 'bad_jwt'])

let pendingCheck: Promise<void> | null = null
/** With storage it would delete the stored session on these errors, even a newer one. */
let checkClient: Client | null = null

/** A new access token in place of one that the server rejects; null if there is none. */
async function renewToken(rejected: string): Promise<string | null> {
  const isOwn = (await accessToken()) === rejected
  if (isOwn && !store.expire(rejected)) return null
  const token = await accessToken()
  return token !== null && token !== rejected && isOfSamePerson(token, rejected) ? token : null
}

/** Renews a token that has expired by the server's clock. Signs out if the session has ended elsewhere. */
export async function confirmSession(): Promise<void> {
  // The server closes the channels of a session that this page ends before it answers; until then, they may read nothing.
  if (signingOut !== null) {
    await Promise.allSettled([signingOut])
    return
  }
  pendingCheck ??= checkSession().finally(() => {
    pendingCheck = null
  })
  return pendingCheck
}

async function checkSession(): Promise<void> {
  if (client === null || state.session === null) return
  const asked = await accessToken()
  // Without a token, a stored session could not be refreshed yet.
  if (asked === null && hasStoredSession()) return
  if (asked !== null) {
    checkClient ??= detachedClient()
    const { error } = await checkClient.getUser(asked)
    if (error === null || !(SESSION_ENDED_CODES.has(error.code ?? '') || error.name === 'AuthSessionMissingError'))
      return
    // The auth client signs out by itself where the refresh is refused.
    if (error.code === 'bad_jwt' && store.expire(asked)) await accessToken()
    if ((await accessToken()) !== asked) return
  }
  await signOutLocally()
}

export async function signOutLocally(): Promise<void> {
  await startedClient().signOut({ scope: 'local' })
}

/** Browsers send no event when a person clears the storage. */
export function hasStoredSession(): boolean {
  return localStore.getItem(STORAGE_KEY) !== null
}

/** The current access token, refreshed if it has expired; null while signed out. */
export async function accessToken(): Promise<string | null> {
  const { data } = await startedClient().getSession()
  if (data.session !== null) announcedSession = null
  return (data.session ?? announcedSession)?.access_token ?? null
}

/** The time by the server's clock, as far as it is known, in ISO 8601: the browser's clock may be wrong. */
export const serverTime = (): string => new Date(store.serverTime()).toISOString()

export function anonKey(): string {
  return config().supabaseAnonKey
}

export type { AuthChangeEvent, User }
