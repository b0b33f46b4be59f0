/**
 * Which addresses an answer may link to. An instruction hidden in a document or a page can make a model write data into
 * the host, path or fragment of a link, so only hosts that the person wrote or that a source of an answer names are linked.
 */
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isWebSource, type Source } from '#contract/source.ts'
import type { ThreadMessage } from './merge-messages.ts'

export type KnownAddresses = {
  /** As in `URL.host`: in lower case, internationalized ones in Punycode, with a port that is not the default one. */
  hosts: ReadonlySet<string>
  /** As in `URL.href`. */
  addresses: ReadonlySet<string>
  mailboxes: ReadonlySet<string>
}

export const NO_ADDRESSES: KnownAddresses = { hosts: new Set(), addresses: new Set(), mailboxes: new Set() }

const ADDRESS = /https?:\/\/[^\s<>"'`|]+/gi
const MAILBOX = /[\w.+-]+@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}/gu
const BARE_HOST =
  /(?<![\w@/.\\-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+(\p{L}{2,})(?::\d{1,5})?(?![\p{L}\p{N}@.-]*[\p{L}\p{N}@])/gu
/** Endings of file names that are top-level domains too: anyone may own the host `archive.zip`. */
const FILE_ENDINGS = new Set('app cc md mov mm pl ps pub py rs sc sh so st tf vi zip'.split(' '))
const CLOSING = /[)\]}.,;:!?*_~]+$/

const hostOf = (address: string): string | null => {
  const url = URL.parse(address)
  return url === null || url.username !== '' || url.password !== '' ? null : url.host
}

/** The addresses, bare hosts and mailboxes of a text that the person wrote. */
export function writtenAddresses(text: string): KnownAddresses {
  const given = [...text.matchAll(ADDRESS)].flatMap(([match]) => [match, match.replace(CLOSING, '')])
  const addresses = given.filter((address) => hostOf(address) !== null)
  const bare = [...text.replaceAll(ADDRESS, ' ').matchAll(BARE_HOST)]
    .filter(([, ending = '']) => !FILE_ENDINGS.has(ending.toLowerCase()))
    .map(([host]) => `http://${host}`)
  return {
    hosts: new Set([...addresses, ...bare].flatMap((address) => hostOf(address) ?? [])),
    addresses: new Set(addresses.flatMap((address) => URL.parse(address)?.href ?? [])),
    mailboxes: new Set([...text.matchAll(MAILBOX)].map(([mailbox]) => mailbox.toLowerCase())),
  }
}

const sourceAddresses = (sources: Iterable<Source>): string[] =>
  [...sources].flatMap((source) => (isWebSource(source) ? (URL.parse(source.address)?.href ?? []) : []))

function join(parts: readonly KnownAddresses[]): KnownAddresses {
  const all = (key: keyof KnownAddresses) => new Set(parts.flatMap((part) => [...part[key]]))
  return { hosts: all('hosts'), addresses: all('addresses'), mailboxes: all('mailboxes') }
}

const bySource = (sources: Iterable<Source>): KnownAddresses => {
  const addresses = sourceAddresses(sources)
  return {
    ...NO_ADDRESSES,
    hosts: new Set(addresses.flatMap((address) => hostOf(address) ?? [])),
    addresses: new Set(addresses),
  }
}

export const withSources = (known: KnownAddresses, sources: Iterable<Source>): KnownAddresses =>
  join([known, bySource(sources)])

const ofMessage = new WeakMap<ThreadMessage, KnownAddresses>()

function addressesOf(message: ThreadMessage): KnownAddresses {
  const cached = ofMessage.get(message)
  if (cached) return cached
  const found =
    message.sender_role === SENDER_ROLES.user
      ? writtenAddresses(message.content)
      : bySource(message.sender_role === SENDER_ROLES.assistant ? (message.metadata?.sources ?? []) : [])
  ofMessage.set(message, found)
  return found
}

/** Returns `before` where nothing changed, so that answers are not rendered again. */
export function addressesOfThread(messages: readonly ThreadMessage[], before: KnownAddresses): KnownAddresses {
  const now = join(messages.map(addressesOf))
  const isSame = (['hosts', 'addresses', 'mailboxes'] as const).every(
    (key) => now[key].size === before[key].size && now[key].isSubsetOf(before[key]),
  )
  return isSame ? before : now
}

/** A query needs a known address, everything else a known host; a subdomain, a port or user information makes another. */
export function mayLink(
  { protocol, username, password, host, pathname, search, hash, href }: URL,
  known: KnownAddresses,
): boolean {
  if (protocol === 'mailto:') return search === '' && hash === '' && known.mailboxes.has(pathname.toLowerCase())
  if (username !== '' || password !== '') return false
  return known.addresses.has(href) || (search === '' && known.hosts.has(host))
}
