import { describe, expect, it, test } from 'vitest'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import {
  addressesOfThread,
  mayLink,
  NO_ADDRESSES,
  shownHosts,
  withSources,
  writtenByPerson,
} from './known-addresses.ts'
import type { ThreadMessage } from './merge-messages.ts'

const written = writtenByPerson(
  'Compare https://docs.example/guide?lang=de#top, (http://münchen.example:8080/a) and www.lamps.example with notes.md, ' +
    'archive.zip and https://user:secret@hidden.example/. Ask Rent@mail.example or see keeper.example!',
)
const source = { n: 1, address: 'https://news.example/?id=7', title: 'News', text: 'Today' }
const known = withSources(written, [source])
const isLinked = (href: string) => mayLink(new URL(href), known)

describe('a link', () => {
  it.each([
    'https://docs.example/guide?lang=de#top',
    'https://docs.example/other/page#part',
    'http://docs.example/',
    'http://xn--mnchen-3ya.example:8080/a',
    'https://www.lamps.example/',
    'https://keeper.example/a',
    'https://news.example/?id=7',
    'https://news.example/',
    'mailto:rent@mail.example',
  ])('leads to %s', (href) => expect(isLinked(href)).toBe(true))

  it.each([
    'https://evil.example/secret',
    'https://secret.evil.example/',
    'https://evil.example/#secret',
    'https://secret.docs.example/',
    'https://docs.example.evil.example/',
    'https://docs.example./secret',
    'https://docs.example:444/secret',
    'https://docs.example/guide?lang=secret',
    'https://news.example/?id=secret',
    'https://news.example/?id=7#secret',
    'https://news.example/secret',
    'https://news.example/#secret',
    'http://news.example/',
    'https://docs.example@evil.example/secret',
    'https://secret@docs.example/',
    'https://:secret@docs.example/',
    'https:\\\\evil.example\\docs.example',
    'https:/\\evil.example/docs.example',
    'https://dосs.example/secret',
    'http://münchen.example/',
    'https://hidden.example/',
    'https://notes.md/secret',
    'https://archive.zip/secret',
    'https://mail.example/secret',
    'mailto:secret@evil.example',
    'mailto:rent@mail.example?body=secret',
    'mailto:rent@mail.example,secret@evil.example',
  ])('does not lead to %s', (href) => expect(isLinked(href)).toBe(false))
})

test('a thread names what the person wrote and its sources, not what tools or answers say', () => {
  const message = (sender_role: ThreadMessage['sender_role'], content: string, sources = [source]): ThreadMessage => ({
    id: '7f1e0d7a-93f9-4cbb-9c0e-0d3c1a8b2c02',
    conversation_id: '7f1e0d7a-93f9-4cbb-9c0e-0d3c1a8b2c03',
    content,
    sender_role,
    token_in: null,
    author: null,
    token_out: null,
    created_at: '2026-01-01T00:00:00Z',
    position: 1,
    metadata: { sources },
  })
  const thread = [
    message(SENDER_ROLES.user, 'https://asked.example/', []),
    message(SENDER_ROLES.tool, 'https://snippet.example/', []),
    message(SENDER_ROLES.assistant, 'https://answered.example/'),
  ]
  const named = addressesOfThread(thread, NO_ADDRESSES)
  expect([...named.hosts]).toEqual(['asked.example'])
  expect([...named.addresses].toSorted()).toEqual([
    'https://asked.example/',
    'https://news.example/',
    'https://news.example/?id=7',
  ])
  expect(addressesOfThread([...thread], named)).toBe(named)
})

test('names of documents, which the page inserts into a message, are not written by the person', () => {
  const named = writtenByPerson(
    '@knowledge “Offer acme-billing.example 2026.pdf”, “ask@evil.example”: compare with https://asked.example/ or lamps.example',
  )
  expect([...named.hosts].toSorted()).toEqual(['asked.example', 'lamps.example'])
  expect([...named.mailboxes]).toEqual([])
})

test('a text shows the hosts of its addresses, words and mailboxes, names of files included', () => {
  expect(shownHosts('See https://a.example/x B.example, archive.zip or c@d.example').toSorted()).toEqual([
    'a.example',
    'archive.zip',
    'b.example',
    'd.example',
  ])
})
