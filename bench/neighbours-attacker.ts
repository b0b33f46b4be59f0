/**
 * The attacker of `npm run bench -- neighbours`: repeats one kind of request as fast as it can until its parent sends a
 * message, and answers with what became of them. Arguments: the `Attack` as JSON.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { createClient, REALTIME_SUBSCRIBE_STATES } from '@supabase/supabase-js'

export interface Person {
  readonly id: string
  readonly token: string
  readonly apikey: string
  readonly email: string
  readonly password: string
  readonly conversation: string
}

export interface Attack {
  readonly url: string
  readonly person: Person
  readonly kind: AttackKind
  /** Requests at a time. */
  readonly clients: number
}

export interface AttackCounts {
  answered: number
  /** Answered with an error status, above all 429. */
  rejected: number
  /** The server closed the connection, for example because a body was too much. */
  broken: number
}

const LINE = 'A line of a stored text.\n'
/** 1 MB and 5 MB. Both are stored before, so that uploads of them add no documents to read. */
export const OBJECTS = {
  'large.txt': new TextEncoder().encode(LINE.repeat(40_000)),
  'larger.txt': new TextEncoder().encode(LINE.repeat(200_000)),
} as const
const PATTERN = encodeURIComponent('(a|b)*a(a|b){90}c')

type Send = (
  method: string,
  path: string,
  body?: string | Uint8Array<ArrayBuffer> | FormData,
) => Promise<{ readonly ok: boolean }>

const sender = ({ url, person: { apikey, token } }: Attack): Send =>
  async function send(method, path, body) {
    const headers = {
      apikey,
      authorization: `Bearer ${token}`,
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      ...(body instanceof Uint8Array ? { 'content-type': 'text/plain' } : {}),
    }
    const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
    await response.arrayBuffer()
    return response
  }

const formOf = (bytes: BlobPart): FormData => {
  const form = new FormData()
  form.append('files', new Blob([bytes], { type: 'text/plain' }), 'note.txt')
  return form
}

/** Joins a private topic, whose policies are read whether or not they allow it, and leaves it. */
function joining({ url, person: { apikey, token } }: Attack): () => Promise<{ ok: boolean }> {
  const client = createClient(url, apikey, { auth: { persistSession: false } })
  const authorized = client.realtime.setAuth(token)
  return async function join() {
    await authorized
    const channel = client.channel(randomUUID(), { config: { private: true } })
    const status = await new Promise<REALTIME_SUBSCRIBE_STATES>((resolve) => {
      channel.subscribe((reached) => reached !== REALTIME_SUBSCRIBE_STATES.CLOSED && resolve(reached))
    })
    await client.removeChannel(channel)
    return { ok: status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED }
  }
}

export const ATTACK_KINDS = [
  'rest-reads',
  'rest-writes',
  'rest-large-bodies',
  'patterns',
  'rpc',
  'storage-download',
  'storage-large-download',
  'storage-upload',
  'storage-large-upload',
  'broadcasts',
  'sign-in',
  'search',
  'message-search',
  'upload',
  'large-upload',
  'page',
  'joins',
] as const
export type AttackKind = (typeof ATTACK_KINDS)[number]

/** Requests as one person can send them. Rejections by limits are part of the attack. */
function attacksOf(attack: Attack): Readonly<Record<AttackKind, () => Promise<{ readonly ok: boolean }>>> {
  const { person } = attack
  const send = sender(attack)
  const row = `/rest/v1/conversations?id=eq.${person.conversation}`
  const object = `/storage/v1/object/documents/${person.id}`
  const largeBody = JSON.stringify({ title: 'x'.repeat(1_000_000) })
  const { 'large.txt': bytes, 'larger.txt': manyBytes } = OBJECTS
  const signIn = JSON.stringify({ email: person.email, password: person.password })
  const broadcast = { topic: person.conversation, event: 'e', payload: {}, private: true }
  return {
    'rest-reads': () => send('GET', '/rest/v1/conversations?select=*,messages(*)'),
    'rest-writes': () => send('PATCH', row, '{"title":"x"}'),
    'rest-large-bodies': () => send('PATCH', row, largeBody),
    patterns: () => send('GET', `/rest/v1/conversations?select=id&title=match.${PATTERN}`),
    rpc: () => send('POST', '/rest/v1/rpc/fold_text', JSON.stringify({ given: 'Ünïcödé '.repeat(1_000) })),
    'storage-download': () => send('GET', `${object}/large.txt`),
    'storage-large-download': () => send('GET', `${object}/larger.txt`),
    'storage-upload': () => send('PUT', `${object}/large.txt`, bytes),
    'storage-large-upload': () => send('PUT', `${object}/larger.txt`, manyBytes),
    broadcasts: () => send('POST', '/realtime/v1/api/broadcast', JSON.stringify({ messages: [broadcast] })),
    'sign-in': () => send('POST', '/auth/v1/token?grant_type=password', signIn),
    search: () => send('GET', `/api/search/documents?q=${randomUUID()}`),
    'message-search': () => send('GET', `/api/search?q=${randomUUID()}`),
    upload: () => send('POST', '/api/documents', formOf(`A note on ${randomUUID()}.`)),
    'large-upload': () => send('POST', '/api/documents', formOf(manyBytes)),
    page: () => send('GET', '/'),
    joins: joining(attack),
  }
}

async function run(attack: Attack): Promise<AttackCounts> {
  // The server and the measured person come first: their times are the figure.
  setPriority(constants.priority.PRIORITY_LOW)
  const send = attacksOf(attack)[attack.kind]
  const counts: AttackCounts = { answered: 0, rejected: 0, broken: 0 }
  let isOver = false
  void once(process, 'message').then(() => (isOver = true))
  async function attackOnce(): Promise<void> {
    try {
      const { ok } = await send()
      counts[ok ? 'answered' : 'rejected'] += 1
    } catch {
      counts.broken += 1
    }
  }
  const clients = Array.from({ length: attack.clients }, async () => {
    while (!isOver) await attackOnce()
  })
  process.send?.('attacking')
  await Promise.all(clients)
  return counts
}

if (process.send) {
  const counts = await run(JSON.parse(process.argv[2] ?? '') as Attack)
  process.send(counts, undefined, undefined, () => process.exit())
}
