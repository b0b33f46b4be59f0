/**
 * Which addresses an answer may link to. An instruction hidden in a document or a page can make a model write data into
 * the host, path or fragment of a link. Therefore any path of a host is linked only if the person wrote the host; a source of
 * an answer is linked by its whole address, or by the root of its host.
 */
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isWebSource, type Source } from '#contract/source.ts'
import { addressesIn, withoutAddresses, withoutDocumentNames } from '#contract/written-addresses.ts'
import type { ThreadMessage } from './merge-messages.ts'

export type KnownAddresses = {
  /** As in `URL.host`: in lower case, internationalized ones in Punycode, with a port that is not the default one. */
  hosts: ReadonlySet<string>
  /** As in `URL.href`. */
  addresses: ReadonlySet<string>
  mailboxes: ReadonlySet<string>
}

export const NO_ADDRESSES: KnownAddresses = { hosts: new Set(), addresses: new Set(), mailboxes: new Set() }

const MAILBOX = /[\w.+-]+@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}/gu
const BARE_HOST =
  /(?<![\w@/.\\-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+(\p{L}{2,})(?::\d{1,5})?(?![\p{L}\p{N}@.-]*[\p{L}\p{N}@])/gu
/** Endings of file names that are top-level domains too: anyone may own the host `archive.zip`. */
const FILE_ENDINGS = new Set('app cc md mov mm pl ps pub py rs sc sh so st tf vi zip'.split(' '))

const bareHosts = (text: string) => [...withoutAddresses(text).matchAll(BARE_HOST)]
const mailboxesIn = (text: string) => [...text.matchAll(MAILBOX)].map(([mailbox]) => mailbox.toLowerCase())
const hostOf = (bare: string): string[] => {
  const url = URL.parse(`http://${bare}`)
  return url === null ? [] : [url.host]
}

/** The addresses, bare hosts and mailboxes of a message, but for those in names of documents. */
export function writtenByPerson(message: string): KnownAddresses {
  const text = withoutDocumentNames(message)
  const addresses = addressesIn(text)
  const bare = bareHosts(text).filter(([, ending = '']) => !FILE_ENDINGS.has(ending.toLowerCase()))
  return {
    hosts: new Set([...addresses.map(({ host }) => host), ...bare.flatMap(([host]) => hostOf(host))]),
    addresses: new Set(addresses.map(({ href }) => href)),
    mailboxes: new Set(mailboxesIn(text)),
  }
}

/** Hosts that a text shows, those of mailboxes included; a name of a file may be one. */
export const shownHosts = (text: string): string[] => [
  ...addressesIn(text).map(({ host }) => host),
  ...bareHosts(text).flatMap(([host]) => hostOf(host)),
  ...mailboxesIn(text).flatMap((mailbox) => hostOf(mailbox.slice(mailbox.lastIndexOf('@') + 1))),
]

function join(parts: readonly KnownAddresses[]): KnownAddresses {
  const all = (key: keyof KnownAddresses) => new Set(parts.flatMap((part) => [...part[key]]))
  return { hosts: all('hosts'), addresses: all('addresses'), mailboxes: all('mailboxes') }
}

function bySource(sources: Iterable<Source>): KnownAddresses {
  const addresses = [...sources].flatMap((source) => {
    const url = isWebSource(source) ? URL.parse(source.address) : null
    return url === null || url.username !== '' || url.password !== '' ? [] : [url.href, new URL('/', url).href]
  })
  return { ...NO_ADDRESSES, addresses: new Set(addresses) }
}

export const withSources = (known: KnownAddresses, sources: Iterable<Source>): KnownAddresses =>
  join([known, bySource(sources)])

type WrittenMessage = Pick<ThreadMessage, 'sender_role' | 'content' | 'metadata'>

const ofMessage = new WeakMap<WrittenMessage, KnownAddresses>()

function addressesOf(message: WrittenMessage): KnownAddresses {
  const cached = ofMessage.get(message)
  if (cached) return cached
  const found =
    message.sender_role === SENDER_ROLES.user
      ? writtenByPerson(message.content)
      : bySource(message.sender_role === SENDER_ROLES.assistant ? (message.metadata?.sources ?? []) : [])
  ofMessage.set(message, found)
  return found
}

/** Returns `before` where nothing changed, so that answers are not rendered again. */
export function addressesOfThread(messages: readonly WrittenMessage[], before: KnownAddresses): KnownAddresses {
  const now = join(messages.map(addressesOf))
  const isSame = (['hosts', 'addresses', 'mailboxes'] as const).every(
    (key) => now[key].size === before[key].size && now[key].isSubsetOf(before[key]),
  )
  return isSame ? before : now
}

/** A path or fragment needs a host that the person wrote, a query a known address; a subdomain or a port makes another host. */
export function mayLink(
  { protocol, username, password, host, pathname, search, hash, href }: URL,
  known: KnownAddresses,
): boolean {
  if (protocol === 'mailto:') return search === '' && hash === '' && known.mailboxes.has(pathname.toLowerCase())
  if (username !== '' || password !== '') return false
  return known.addresses.has(href) || (search === '' && known.hosts.has(host))
}
