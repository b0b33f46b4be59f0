/**
 * The part of the page's address that a link of a mail or the redirect of a provider adds: a code, tokens or a failure. Any
 * site can lead a browser to such an address. Therefore none of it signs in by itself (session fixation), and it is removed
 * from the address bar and the history before anything else runs.
 */
export type Arrival =
  | { kind: 'code'; code: string; flowId: string }
  | { kind: 'tokens'; accessToken: string; refreshToken: string }
  | { kind: 'failure'; code: string }

const MEMBERS = [
  'code',
  'sb_flow_id',
  'error',
  'error_code',
  'error_description',
  'message',
  'token_hash',
  'access_token',
  'refresh_token',
  'provider_token',
  'provider_refresh_token',
]

function removeFromAddress(url: URL): void {
  url.hash = ''
  for (const member of MEMBERS) if (url.searchParams.has(member)) url.searchParams.delete(member)
  if (url.href !== location.href) history.replaceState(history.state, '', url.href)
}

/** Reads the address and removes from it what it brings; null for an ordinary address. */
export function takeArrival(): Arrival | null {
  const url = new URL(location.href)
  const fragment = new URLSearchParams(url.hash.slice(1))
  const query = new URLSearchParams(url.search)
  removeFromAddress(url)
  const failure = fragment.get('error_code') ?? query.get('error_code') ?? fragment.get('error') ?? query.get('error')
  if (failure !== null) return { kind: 'failure', code: failure }
  const code = query.get('code')
  if (code !== null) return { kind: 'code', code, flowId: query.get('sb_flow_id') ?? '' }
  const [accessToken, refreshToken] = [fragment.get('access_token'), fragment.get('refresh_token')]
  return accessToken === null || refreshToken === null ? null : { kind: 'tokens', accessToken, refreshToken }
}

let first: Arrival | null = null

/** To be called before anything is requested. */
export function storeFirstArrival(): void {
  first = takeArrival()
}

/** The arrival of this visit; null when read again. */
export function takeFirstArrival(): Arrival | null {
  const arrival = first
  first = null
  return arrival
}
