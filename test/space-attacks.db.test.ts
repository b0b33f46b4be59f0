/** Attempts to gain more from a space than the own role gives. */
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { findEarlierMessages } from '#server/conversations/earlier-message-queries.ts'
import { createTestDatabase } from './database.ts'
import { addReadDocument } from './library.ts'
import {
  accept,
  ask,
  attemptAs,
  createConversation,
  createPeopledSpace,
  createSpace,
  invite,
  join,
  type Person,
  rejectionOf,
  remove,
  runAs,
  setRole,
} from './spaces.ts'

const REFUSED = '42501'
const NOT_FOUND = 'PT404'

const db = await createTestDatabase()
afterAll(() => db.drop())

let owner: Person
let editor: Person
let reader: Person
let stranger: Person
let space: string

beforeEach(async () => {
  ;({ owner, editor, reader, stranger, space } = await createPeopledSpace(db))
})

const attempt = (person: Person, text: string, ...values: readonly unknown[]) => attemptAs(db, person, text, { values })

describe('ids', () => {
  test('a space named as a person holds none of that person’s documents', async () => {
    await addReadDocument(db.database, owner, 'lamp.txt', ['The reading lamp stands in the alcove.'])
    expect(await rejectionOf(createSpace(db, stranger, owner.sub))).toBe('23505')
    expect(await attempt(stranger, 'select from documents')).toBe(0)
  })

  test('a list of libraries in the settings of a transaction opens no other', async () => {
    const { documentId } = await addReadDocument(db.database, owner, 'lamp.txt', ['In the alcove.'])
    const read = (person: Person, libraries: string) =>
      attemptAs(db, person, 'select from documents where id = $1', {
        values: [documentId],
        settings: { 'alcove.libraries': libraries },
      })
    expect(await read(owner, owner.sub)).toBe(1)
    expect(await read(owner, space)).toBe(0)
    expect(await read(stranger, owner.sub)).toBe(0)
    expect(await read(stranger, `${stranger.sub},${owner.sub},${space}`)).toBe(0)
  })

  test('functions tell a stranger nothing of a space whose id the stranger knows', async () => {
    const conversation = await createConversation(db, owner, { space, isShared: true })
    const [known] = await runAs(
      db,
      stranger,
      `select has_members($1) as members, may_link($2) as may_link, may_ask_in($2) as may_ask, spaces_to('read') as spaces,
         (select count(*)::int from space_people($1)) as people, libraries_to('read') as libraries`,
      [space, conversation],
    )
    expect(known).toEqual({
      members: false,
      may_link: false,
      may_ask: false,
      spaces: [],
      people: 0,
      libraries: [stranger.sub],
    })
    expect(await rejectionOf(runAs(db, stranger, 'select has_right_to_link($1, $2)', [owner.sub, conversation]))).toBe(
      REFUSED,
    )
  })
})

describe('roles', () => {
  test.each(['editor', 'reader'] as const)('%s changes no role, adds no member and removes none', async (name) => {
    const person = { editor, reader }[name]
    expect(await attempt(person, `update space_members set role = 'owner' where space_id = $1`, space)).toBe(0)
    expect(
      await attempt(person, 'delete from space_members where space_id = $1 and user_id = $2', space, owner.sub),
    ).toBe(0)
    expect(await attempt(person, `insert into space_members values ($1, $2, 'reader')`, space, stranger.sub)).toBe(
      REFUSED,
    )
    expect(await attempt(person, `select invite_to_space($1, 'a@example.test', 'reader')`, space)).toBe(REFUSED)
    expect(await attempt(person, 'update spaces set archived_at = now() where id = $1', space)).toBe(
      name === 'editor' ? REFUSED : 0,
    )
    expect(await attempt(person, 'delete from spaces where id = $1', space)).toBe(0)
  })

  test('nobody moves a row by changing whose it is', async () => {
    for (const [table, column] of [
      ['space_members', 'user_id'],
      ['space_members', 'space_id'],
      ['spaces', 'created_by'],
      ['spaces', 'id'],
      ['conversations', 'space_id'],
      ['conversations', 'uid'],
      ['messages', 'author'],
      ['messages', 'conversation_id'],
      ['documents', 'space_id'],
      ['documents', 'owner'],
      ['documents', 'library'],
      ['space_invitations', 'email'],
      ['space_invitations', 'role'],
      ['share_links', 'conversation_id'],
      ['share_links', 'expires_at'],
    ])
      expect(await attempt(owner, `update ${table} set ${column} = default`), `${table}.${column}`).toBe(REFUSED)
  })

  test('the last owner neither leaves nor becomes less', async () => {
    expect(await rejectionOf(remove(db, owner, space, owner))).toBe('PT409')
    expect(await rejectionOf(setRole(db, owner, space, owner, 'editor'))).toBe('PT409')
    expect(await attempt(owner, 'delete from space_members where space_id = $1', space)).toBe('PT409')
  })

  test.each(['leave', 'remove each other', 'demote each other'])(
    'of two owners who %s at once, one stays',
    async (change) => {
      await setRole(db, owner, space, editor, 'owner')
      const text =
        change === 'demote each other'
          ? `update space_members set role = 'reader' where space_id = $1 and user_id = $2`
          : 'delete from space_members where space_id = $1 and user_id = $2'
      const [first, second] = change === 'leave' ? [owner, editor] : [editor, owner]
      const firstIsDone = Promise.withResolvers<undefined>()
      const results = await Promise.allSettled([
        db.database.asUser(owner, async (scope) => {
          await scope.query(text, [space, first.sub])
          firstIsDone.resolve(undefined)
          // The other transaction waits for a lock by now, or will.
          await scope.query('select pg_sleep(0.2)')
        }),
        db.database.asUser(editor, async (scope) => {
          await firstIsDone.promise
          const { rowCount } = await scope.query(text, [space, second.sub])
          if (rowCount === 0) throw new Error('may not')
        }),
      ])
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const { rows } = await db.admin.query(`select from space_members where space_id = $1 and role = 'owner'`, [space])
      expect(rows).toHaveLength(1)
    },
  )

  test('what a removed or demoted owner offered to other addresses ends; who leaves hands it over', async () => {
    const second = await db.createPerson()
    await setRole(db, owner, space, editor, 'owner')
    const offered = async (inviter: Person) => {
      const account = await db.createPerson()
      return { account, id: await invite(db, inviter, { space, email: String(account.email), role: 'owner' }) }
    }
    const ofEditor = await offered(editor)
    await setRole(db, owner, space, editor, 'reader')
    expect(await rejectionOf(accept(db, ofEditor.account, ofEditor.id))).toBe(NOT_FOUND)

    await join(db, owner, space, second, 'owner')
    const ofSecond = await offered(second)
    await remove(db, owner, space, second)
    expect(await rejectionOf(accept(db, ofSecond.account, ofSecond.id))).toBe(NOT_FOUND)

    await join(db, owner, space, second, 'owner')
    const ofLeaving = await offered(owner)
    await remove(db, owner, space, owner)
    await accept(db, ofLeaving.account, ofLeaving.id)
    expect(await attempt(ofLeaving.account, 'select from spaces where id = $1', space)).toBe(1)
  })
})

describe('invitations', () => {
  test('belong to one confirmed address, however it is written', async () => {
    const email = `Lamp.${randomUUID()}@Example.test`
    const invited = await db.createPerson(email.toLowerCase())
    const unconfirmed = await db.createPerson()
    const id = await invite(db, owner, { space, email: `  ${email.toUpperCase()} `, role: 'reader' })
    await db.admin.query('update auth.users set email_confirmed_at = null where id = $1', [unconfirmed.sub])
    const forUnconfirmed = await invite(db, owner, { space, email: String(unconfirmed.email), role: 'reader' })

    expect(await attempt(invited, 'select from space_invitations where id = $1', id)).toBe(1)
    expect(await attempt(invited, 'select from received_invitations()')).toBe(1)
    for (const person of [stranger, editor, reader, unconfirmed]) {
      expect(await attempt(person, 'select from space_invitations where id = any ($1)', [id, forUnconfirmed])).toBe(0)
      expect(await attempt(person, 'select from received_invitations()')).toBe(0)
      for (const guessed of [id, forUnconfirmed, randomUUID()]) {
        expect(await rejectionOf(accept(db, person, guessed))).toBe(NOT_FOUND)
        expect(await rejectionOf(runAs(db, person, 'select answer_invitation($1, false)', [guessed]))).toBe(NOT_FOUND)
      }
    }
    expect(await attempt(invited, 'select from spaces where id = $1', space)).toBe(0)
    const once = await Promise.allSettled([accept(db, invited, id), accept(db, invited, id)])
    expect(once.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await attempt(invited, 'select from spaces where id = $1', space)).toBe(1)
  })

  test('end when they are withdrawn or have expired, and lower no role', async () => {
    const withdrawn = await invite(db, owner, { space, email: String(stranger.email), role: 'editor' })
    await runAs(db, owner, 'delete from space_invitations where id = $1', [withdrawn])
    expect(await rejectionOf(accept(db, stranger, withdrawn))).toBe(NOT_FOUND)
    const expired = await invite(db, owner, { space, email: String(stranger.email), role: 'editor' })
    await db.admin.query('update space_invitations set expires_at = now() where id = $1', [expired])
    expect(await attempt(stranger, 'select from space_invitations')).toBe(0)
    expect(await rejectionOf(accept(db, stranger, expired))).toBe(NOT_FOUND)

    const [{ id: lower } = { id: '' }] = (
      await db.admin.query<{ id: string }>(
        `insert into space_invitations (space_id, email, role) values ($1, $2, 'reader') returning id`,
        [space, editor.email],
      )
    ).rows
    await accept(db, editor, lower)
    expect(await attempt(editor, `select from space_members where user_id = $1 and role = 'editor'`, editor.sub)).toBe(
      1,
    )
  })

  test('of an unknown role or to no address are refused', async () => {
    expect(await attempt(owner, `select invite_to_space($1, 'a@example.test', 'admin')`, space)).toBe('23514')
    expect(await attempt(owner, `select invite_to_space($1, ' ', 'reader')`, space)).toBe('23514')
    expect(await attempt(stranger, `select invite_to_space($1, 'a@example.test', 'reader')`, space)).toBe(NOT_FOUND)
  })
})

describe('conversations', () => {
  const insert = 'insert into conversations (model_name, space_id, is_shared, uid) values ($1, $2, $3, $4)'

  test('are begun only in the own spaces, as oneself', async () => {
    expect(await attempt(reader, insert, 'm', space, false, reader.sub)).toBe(1)
    expect(await attempt(stranger, insert, 'm', space, false, stranger.sub)).toBe(REFUSED)
    expect(await attempt(stranger, insert, 'm', randomUUID(), false, stranger.sub)).toBe(REFUSED)
    expect(await attempt(editor, insert, 'm', space, true, owner.sub)).toBe(REFUSED)
    expect(await attempt(editor, insert, 'm', space, true, null)).toBe(REFUSED)
    expect(await attempt(editor, insert, 'm', null, true, editor.sub)).toBe('23514')
  })

  test('are shared and unshared by their authors alone', async () => {
    const own = await createConversation(db, reader, { space })
    for (const person of [owner, editor, stranger])
      expect(await attempt(person, 'update conversations set is_shared = true where id = $1', own)).toBe(0)
    expect(await attempt(reader, 'update conversations set is_shared = true where id = $1', own)).toBe(1)
    await runAs(db, reader, 'update conversations set is_shared = true where id = $1', [own])
    for (const person of [owner, editor, stranger])
      expect(await attempt(person, 'update conversations set is_shared = false where id = $1', own)).toBe(0)
    await remove(db, owner, space, reader)
    expect(await attempt(reader, 'update conversations set is_shared = false where id = $1', own)).toBe(0)
  })

  test('of another are withdrawn by owners, whose space tells of it, and go on as their author’s alone', async () => {
    const shared = await createConversation(db, editor, { space, isShared: true })
    const hidden = await createConversation(db, editor, { space })
    const unshare = 'select unshare_conversation($1)'
    await runAs(db, editor, 'select create_link($1, 1, false)', [shared])
    const question = await ask(db, owner, shared)
    expect(await attempt(reader, unshare, shared)).toBe(REFUSED)
    expect(await attempt(stranger, unshare, shared)).toBe(NOT_FOUND)
    expect(await attempt(owner, unshare, hidden)).toBe(NOT_FOUND)
    expect(await attempt(owner, unshare, randomUUID())).toBe(NOT_FOUND)
    await runAs(db, owner, 'update spaces set archived_at = now() where id = $1', [space])
    await runAs(db, owner, unshare, [shared])
    expect(await attempt(owner, 'select from conversations where id = $1', shared)).toBe(0)
    expect(await attempt(owner, unshare, shared)).toBe(NOT_FOUND)
    expect(await runAs(db, editor, 'select uid, is_shared from conversations where id = $1', [shared])).toEqual([
      { uid: editor.sub, is_shared: false },
    ])
    const { rows } = await db.admin.query('select stop_requested from replies where message_id = $1', [question])
    expect(rows).toEqual([{ stop_requested: true }])
    expect(
      await runAs(db, owner, `select actor, subject from space_events where space_id = $1 and kind = 'unshared'`, [
        space,
      ]),
    ).toEqual([{ actor: owner.sub, subject: shared }])
  })

  test('of a deleted account are not withdrawn, since they would be out of reach for everybody', async () => {
    const author = await db.createPerson()
    await join(db, owner, space, author, 'reader')
    const shared = await createConversation(db, author, { space, isShared: true })
    await db.admin.query('delete from auth.users where id = $1', [author.sub])
    expect(await attempt(owner, 'select unshare_conversation($1)', shared)).toBe('PT409')
    expect(await attempt(owner, 'select from conversations where id = $1', shared)).toBe(1)
  })

  test('take questions of their author and of editors, in their own name', async () => {
    const own = await createConversation(db, reader, { space, isShared: true })
    const insertMessage = `insert into messages (conversation_id, content, sender_role, author) values ($1, 'x', $2, $3)`
    expect(await attempt(editor, insertMessage, own, 1, editor.sub)).toBe(1)
    expect(await attempt(editor, insertMessage, own, 1, reader.sub)).toBe(REFUSED)
    expect(await attempt(editor, insertMessage, own, 1, null)).toBe(REFUSED)
    expect(await attempt(editor, insertMessage, own, 2, editor.sub)).toBe(REFUSED)
    expect(await attempt(stranger, insertMessage, own, 1, stranger.sub)).toBe(REFUSED)
    const ofOwner = await createConversation(db, owner, { space, isShared: true })
    expect(await attempt(reader, insertMessage, ofOwner, 1, reader.sub)).toBe(REFUSED)
    const hidden = await createConversation(db, owner, { space })
    expect(await attempt(editor, insertMessage, hidden, 1, editor.sub)).toBe(REFUSED)
    await runAs(db, owner, 'update spaces set archived_at = now() where id = $1', [space])
    for (const person of [owner, editor, reader])
      expect(await attempt(person, insertMessage, own, 1, person.sub)).toBe(REFUSED)
  })

  test('leave a space with their author only, and a running answer of another ends when they are unshared', async () => {
    const own = await createConversation(db, owner, { space, isShared: true })
    const question = await ask(db, editor, own)
    expect(await attempt(editor, 'select move_conversation($1, null)', own)).toBe(REFUSED)
    expect(await attempt(stranger, 'select move_conversation($1, null)', own)).toBe(NOT_FOUND)
    expect(await attempt(owner, 'select move_conversation($1, $2)', own, randomUUID())).toBe(NOT_FOUND)
    await runAs(db, owner, 'update conversations set is_shared = false where id = $1', [own])
    const { rows } = await db.admin.query('select stop_requested from replies where message_id = $1', [question])
    expect(rows).toEqual([{ stop_requested: true }])
  })

  test('that others read quote nothing from those that they may not read', async () => {
    const shared = await createConversation(db, editor, { space, isShared: true })
    const hidden = await createConversation(db, editor, { space })
    const elsewhere = await createConversation(db, editor)
    const words = ['lighthouse']
    const said = await ask(db, editor, hidden, 'The lighthouse keeper is ill.')
    await ask(db, editor, elsewhere, 'The lighthouse is mine.')
    const found = async (person: Person, conversation: string) =>
      db.database.asUser(person, async (scope) =>
        (await findEarlierMessages(scope, words, { conversationId: conversation, after: 0 })).messages.map(
          ({ messageId }) => messageId,
        ),
      )
    expect(await found(editor, shared)).toEqual([])
    expect(await found(editor, await createConversation(db, editor, { space }))).toEqual([said])
    await runAs(db, editor, 'update conversations set is_shared = true where id = $1', [hidden])
    expect(await found(editor, shared)).toEqual([said])
  })
})

describe('documents that an answer cites', () => {
  const cite = async (conversation: string, document: string) => {
    const { rows } = await db.admin.query<{ id: string }>(
      `insert into messages (conversation_id, content, sender_role, metadata) values ($1, 'There [1].', 2, $2) returning id`,
      [conversation, JSON.stringify({ sources: [{ n: 1, documentId: document }] })],
    )
    return rows[0]?.id ?? ''
  }
  const absence = async (person: Person, document: string, message: string) => {
    const [row] = await runAs(db, person, 'select absence_of_document($1, $2) as why', [document, message])
    return row?.['why']
  }

  test('are told to be of a space or of a person to those who read the answer, and to no others', async () => {
    const { documentId: ofSpace } = await addReadDocument(db.database, owner, 'lamp.txt', ['A lamp.'], space)
    const { documentId: own } = await addReadDocument(db.database, editor, 'own.txt', ['My own lamp.'])
    const shared = await createConversation(db, editor, { space, isShared: true })
    const hidden = await createConversation(db, editor, { space })
    const ofReader = await createConversation(db, reader)
    const [inShared, inHidden, inReaders] = [
      await cite(shared, own),
      await cite(hidden, own),
      await cite(ofReader, ofSpace),
    ]

    expect(await absence(reader, own, inShared)).toBe('person')
    expect(await absence(editor, own, inShared)).toBeNull()
    expect(await absence(reader, own, inHidden)).toBeNull()
    expect(await absence(reader, ofSpace, inShared)).toBeNull()
    expect(await absence(reader, ofSpace, inReaders)).toBeNull()
    await remove(db, owner, space, reader)
    // A former member reads the own conversation, and those of the space no longer.
    expect(await absence(reader, ofSpace, inReaders)).toBe('space')
    expect(await absence(reader, own, inShared)).toBeNull()
    for (const message of [inShared, inHidden, inReaders, randomUUID()])
      for (const document of [own, ofSpace, randomUUID()]) expect(await absence(stranger, document, message)).toBeNull()

    await runAs(db, owner, 'delete from documents where id = $1', [ofSpace])
    expect(await absence(reader, ofSpace, inReaders)).toBe('deleted')
    expect(await absence(owner, ofSpace, inReaders)).toBeNull()
  })

  test('are not told by sources that a person has put into a question', async () => {
    const { documentId } = await addReadDocument(db.database, owner, 'lamp.txt', ['A lamp.'], space)
    const question = randomUUID()
    await runAs(
      db,
      stranger,
      `insert into messages (id, conversation_id, content, sender_role, author, metadata) values ($1, $2, 'There [1].', 1, $3, $4)`,
      [
        question,
        await createConversation(db, stranger),
        stranger.sub,
        JSON.stringify({ sources: [{ n: 1, documentId }] }),
      ],
    )
    expect(await absence(stranger, documentId, question)).toBeNull()
  })
})

describe('links', () => {
  let hash: Buffer
  const opens = async (person: Person) => (await runAs(db, person, 'select from open_link($1, 0, 10)', [hash])).length
  async function make(person: Person, conversation: string, days = 1): Promise<string> {
    const [link] = await runAs<{ token: string }>(db, person, 'select token from create_link($1, $2, false)', [
      conversation,
      days,
    ])
    const token = link?.token ?? ''
    hash = createHash('sha256').update(token).digest()
    return token
  }

  beforeEach(async () => {
    await db.admin.query('delete from share_links')
  })

  test('are made by editors for what they read, within a year, and opened by whoever is signed in', async () => {
    const shared = await createConversation(db, owner, { space, isShared: true })
    const hidden = await createConversation(db, owner, { space })
    await make(editor, shared)
    expect(await opens(stranger)).toBe(1)
    await db.admin.query('delete from share_links')
    expect(await rejectionOf(make(reader, shared))).toBe(REFUSED)
    expect(await rejectionOf(make(stranger, shared))).toBe(NOT_FOUND)
    expect(await rejectionOf(make(editor, hidden))).toBe(NOT_FOUND)
    for (const days of [0, 366, null])
      expect(await attempt(editor, 'select create_link($1, $2, false)', shared, days)).toBe('22023')
    expect(await attemptAs(db, { role: 'anon' }, 'select from open_link($1, 0, 10)', { values: [hash] })).toBe(REFUSED)
  })

  const ENDS: Record<string, (shared: string) => Promise<unknown>> = {
    'a demotion': () => setRole(db, owner, space, editor, 'reader'),
    'a removal': () => remove(db, owner, space, editor),
    'the end of sharing': (shared) =>
      runAs(db, owner, 'update conversations set is_shared = false where id = $1', [shared]),
    'a move': (shared) => runAs(db, owner, 'select move_conversation($1, null)', [shared]),
    'a revocation': () => runAs(db, owner, 'delete from share_links'),
    'its own end': () => db.admin.query('update share_links set expires_at = now()'),
  }
  test.each(Object.keys(ENDS))('end with %s, and do not come back', async (end) => {
    const shared = await createConversation(db, owner, { space, isShared: true })
    await make(editor, shared)
    await ENDS[end]?.(shared)
    expect(await opens(stranger)).toBe(0)
    if (end === 'a removal') await join(db, owner, space, editor, 'editor')
    if (end === 'a demotion') await setRole(db, owner, space, editor, 'editor')
    if (end === 'a move') await runAs(db, owner, 'select move_conversation($1, $2)', [shared, space])
    if (end !== 'its own end')
      await runAs(db, owner, 'update conversations set is_shared = true where id = $1', [shared])
    expect(await opens(stranger)).toBe(0)
  })

  test('show at most 8 MiB, or one message, in one read, and all of a conversation in several', async () => {
    const shared = await createConversation(db, owner, { space, isShared: true })
    await make(editor, shared)
    const connection = await db.admin.connect()
    try {
      await connection.query(`begin; set local alcove.copies_answered = 'on'`)
      await connection.query(
        `insert into messages (conversation_id, content, sender_role, author)
         select $1, repeat('é', 900000), 1, $2 from generate_series(1, 12)`,
        [shared, owner.sub],
      )
      await connection.query('commit')
    } finally {
      connection.release(true)
    }
    const counts: number[] = []
    let after: number | undefined = 0
    while (after !== undefined) {
      const [page]: { bytes: number; count: number; last: number; has_more: boolean }[] = await runAs(
        db,
        stranger,
        `select octet_length(messages::text) as bytes, jsonb_array_length(messages) as count,
           (messages -> -1 ->> 'position')::int as last, has_more from open_link($1, $2, 200)`,
        [hash, after],
      )
      expect(page?.bytes).toBeLessThan(9_000_000)
      counts.push(page?.count ?? 0)
      after = page?.has_more ? page.last : undefined
    }
    expect(counts).toEqual([4, 4, 4])
  })

  test.each([1000, null])(
    'show at most 200 messages where %s are asked for, and say that there are more',
    async (most) => {
      const shared = await createConversation(db, owner, { space, isShared: true })
      await make(editor, shared)
      await db.admin.query(
        `insert into messages (conversation_id, content, sender_role, author)
       select $1, 'Said ' || n, 1, $2 from generate_series(1, 201) n`,
        [shared, owner.sub],
      )
      const pages = await runAs(
        db,
        stranger,
        'select jsonb_array_length(messages) as count, has_more from open_link($1, 0, $2)',
        [hash, most],
      )
      expect(pages).toEqual([{ count: 200, has_more: true }])
    },
  )

  test('and whatever else is recorded of a space leave at most 20,100 events, the newest', async () => {
    const record = (events: number) =>
      db.admin.query(`select record_space_event($1, 'invited', null, '{}') from generate_series(1, $2)`, [
        space,
        events,
      ])
    const counted = async (events: number) => {
      await record(events)
      const { rows } = await db.admin.query<{ events: number; last: boolean }>(
        `select count(*)::int as events, max(id) = (select max(id) from space_events) as last
         from space_events where space_id = $1`,
        [space],
      )
      return rows[0]
    }
    // Recording each of these by the function takes minutes on a busy machine.
    await db.admin.query(
      `insert into space_events (space_id, kind) select $1, 'invited' from generate_series(1, 20000)`,
      [space],
    )
    for (let round = 0; round < 3; round += 1) {
      const left = await counted(300)
      expect(left?.events).toBeLessThanOrEqual(20_100)
      expect(left?.events).toBeGreaterThan(20_000 - 1)
      expect(left?.last).toBe(true)
    }
  })

  test('open nothing, and invitations cannot be accepted, while the account of who made them is disabled', async () => {
    const shared = await createConversation(db, owner, { space, isShared: true })
    await make(editor, shared)
    const [invited] = await runAs<{ id: string }>(
      db,
      owner,
      `select invite_to_space($1, (select email from space_people($1) limit 1) || '.test', 'reader') as id`,
      [space],
    )
    await db.admin.query(
      'update space_invitations set email = (select email from auth.users where id = $1) where id = $2',
      [stranger.sub, invited?.id],
    )
    const ban = (until: string | null) =>
      db.admin.query('update auth.users set banned_until = $1 where id = any ($2)', [until, [owner.sub, editor.sub]])
    await ban('infinity')
    expect(await opens(stranger)).toBe(0)
    expect(await attempt(stranger, 'select answer_invitation($1, true)', invited?.id)).toBe(NOT_FOUND)
    await ban(null)
    expect(await opens(stranger)).toBe(1)
    expect(await attempt(stranger, 'select answer_invitation($1, false)', invited?.id)).toBe(1)
  })

  test('have tokens that nobody chooses, and at most 20 of a conversation are open', async () => {
    const shared = await createConversation(db, owner, { space, isShared: true })
    const insert = `insert into share_links (conversation_id, token_hash, expires_at) values ($1, sha256('1'), now() + interval '1 day')`
    for (const person of [owner, editor, reader]) expect(await attempt(person, insert, shared)).toBe(REFUSED)
    const tokens = await Promise.allSettled(Array.from({ length: 24 }, () => make(editor, shared)))
    const made = tokens.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(made).toHaveLength(20)
    for (const token of made) expect(token).toMatch(/^[\w-]{43}$/)
    expect(new Set(made).size).toBe(20)
    expect(await rejectionOf(make(owner, shared))).toBe('PT409')
    await db.admin.query(`update share_links set expires_at = now() where token_hash = $1`, [
      createHash('sha256')
        .update(made[0] ?? '')
        .digest(),
    ])
    await make(owner, shared)
  })

  test('to the own conversation are withdrawn by its author, also once the space is archived, where none is made', async () => {
    const own = await createConversation(db, reader, { space, isShared: true })
    await make(editor, own)
    await make(owner, own)
    await runAs(db, owner, 'update spaces set archived_at = now() where id = $1', [space])
    expect(await rejectionOf(make(owner, own))).toBe(REFUSED)
    expect(await attempt(reader, 'select id from share_links')).toBe(2)
    expect(await runAs(db, reader, 'delete from share_links returning id')).toHaveLength(2)
    expect(await attempt(reader, `update conversations set title = 'New' where id = $1`, own)).toBe(REFUSED)
    expect(await attempt(reader, `update conversations set is_shared = false, pinned = true where id = $1`, own)).toBe(
      REFUSED,
    )
    await runAs(db, reader, 'update conversations set is_shared = false where id = $1', [own])
    expect(await attempt(owner, 'select from conversations where id = $1', own)).toBe(0)
    expect(await attempt(reader, 'update conversations set is_shared = true where id = $1', own)).toBe(REFUSED)
  })

  test('are listed and revoked by editors and owners, and by the author of the conversation', async () => {
    const shared = await createConversation(db, owner, { space, isShared: true })
    await make(editor, shared)
    for (const person of [owner, editor]) {
      expect(await attempt(person, 'select id from share_links')).toBe(1)
      expect(await attempt(person, 'delete from share_links')).toBe(1)
    }
    for (const person of [reader, stranger]) {
      expect(await attempt(person, 'select id from share_links')).toBe(0)
      expect(await attempt(person, 'delete from share_links')).toBe(0)
    }
    expect(await attempt(owner, 'select token_hash from share_links')).toBe(REFUSED)
  })
})

describe('channels', () => {
  const hears = async (person: Person, topic: string, extension: string) => {
    await db.admin.query('delete from realtime.messages')
    await db.admin.query('insert into realtime.messages (topic, extension) values ($1, $2)', [topic, extension])
    return attemptAs(db, person, 'select from realtime.messages where topic = $1 and extension = $2', {
      values: [topic, extension],
      settings: { 'realtime.topic': topic },
    })
  }
  const sends = (person: Person, topic: string, extension: string) =>
    attemptAs(db, person, 'insert into realtime.messages (topic, extension) values ($1, $2)', {
      values: [topic, extension],
      settings: { 'realtime.topic': topic },
    })

  test('of a space and of its shared conversations are for members, by the exact name', async () => {
    const shared = await createConversation(db, owner, { space, isShared: true })
    const hidden = await createConversation(db, owner, { space })
    for (const person of [owner, editor, reader]) {
      expect(await hears(person, `space:${space}`, 'presence')).toBe(1)
      expect(await sends(person, `space:${space}`, 'presence')).toBe(1)
      expect(await sends(person, `space:${space}`, 'broadcast')).toBe(REFUSED)
      expect(await hears(person, `conversation:${shared}`, 'broadcast')).toBe(1)
      expect(await sends(person, `conversation:${shared}`, 'broadcast')).toBe(REFUSED)
      expect(await hears(person, `conversation:${shared}`, 'presence')).toBe(0)
      expect(await sends(person, `conversation:${shared}`, 'presence')).toBe(REFUSED)
      for (const other of [
        `space:${space.toUpperCase()}`,
        `space:${space} `,
        `Space:${space}`,
        `space:${randomUUID()}`,
        'space:',
      ])
        expect(await hears(person, other, 'presence'), other).toBe(0)
      expect(await hears(person, `conversation:${shared.toUpperCase()}`, 'broadcast')).toBe(0)
    }
    for (const person of [editor, reader]) expect(await hears(person, `conversation:${hidden}`, 'broadcast')).toBe(0)
    await remove(db, owner, space, reader)
    for (const person of [reader, stranger]) {
      expect(await hears(person, `space:${space}`, 'presence')).toBe(0)
      expect(await sends(person, `space:${space}`, 'presence')).toBe(REFUSED)
      expect(await hears(person, `conversation:${shared}`, 'broadcast')).toBe(0)
    }
  })
})

describe('documents', () => {
  test('are moved by who may take them out of one library and put them into the other', async () => {
    const { documentId } = await addReadDocument(db.database, owner, 'lamp.txt', ['The lamp.'])
    const move = (person: Person, target: string | null) =>
      attempt(person, 'select move_document($1, $2)', documentId, target)
    expect(await move(stranger, null)).toBe(NOT_FOUND)
    expect(await move(editor, space)).toBe(NOT_FOUND)
    expect(await move(owner, randomUUID())).toBe(NOT_FOUND)
    // The library of a person has no other name than null.
    expect(await move(owner, editor.sub)).toBe(NOT_FOUND)
    await runAs(db, owner, 'select move_document($1, $2)', [documentId, space])
    for (const person of [owner, editor, reader]) {
      expect(await attempt(person, 'select from documents where id = $1', documentId)).toBe(1)
      expect(await attempt(person, 'select from document_pages where document_id = $1', documentId)).toBe(1)
    }
    expect(await move(reader, null)).toBe(REFUSED)
    expect(await move(stranger, null)).toBe(NOT_FOUND)
    expect(await attempt(reader, 'delete from documents where id = $1', documentId)).toBe(0)
    expect(await attempt(reader, `update documents set filename = 'x' where id = $1`, documentId)).toBe(0)
    await runAs(db, editor, 'select move_document($1, null)', [documentId])
    for (const person of [owner, reader])
      for (const table of ['document_pages', 'passages', 'document_index'])
        expect(await attempt(person, `select from ${table} where document_id = $1`, documentId), table).toBe(0)
    expect(await attempt(editor, 'select from document_pages where document_id = $1', documentId)).toBe(1)
    await runAs(db, owner, 'update spaces set archived_at = now() where id = $1', [space])
    expect(await attempt(editor, 'select move_document($1, $2)', documentId, space)).toBe(REFUSED)
  })
})
