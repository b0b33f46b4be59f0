/** The answers in many spaces are followed on one channel. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { spaceFilters } from '#web/data/spaces/space-filters.ts'
import { temporaryDatabase } from './database.ts'
import { createRecorder, createTestTokens, live, openClient, startNode, tokenOf } from './realtime.ts'
import { createSpace } from './spaces.ts'

test('a person hears of answers in the first and in the last of 3,200 spaces, and a stranger of none', async () => {
  const db = await temporaryDatabase()
  const [author, member, stranger] = [await db.createPerson(), await db.createPerson(), await db.createPerson()]
  const [first, last] = [await createSpace(db, member), await createSpace(db, member)]
  const spaces = [first, ...Array.from({ length: 3_198 }, () => randomUUID()), last]
  const filters = spaceFilters(spaces)
  expect(filters.join(',').match(/[0-9a-f-]{36}/g)).toEqual(spaces)
  const tokens = await createTestTokens()
  const node = await startNode(db, tokens)
  const follow = async (person: typeof member) => {
    const client = await openClient(node, { apikey: tokens.anonKey, token: await tokenOf(tokens, person) })
    const heard = createRecorder<string>()
    const channel = client.channel('answers')
    const note = ({ new: row }: { new: unknown }) => heard.add((row as { space_id: string }).space_id)
    const wanted = { event: 'INSERT', schema: 'public', table: 'latest_answers' } as const
    for (const filter of filters) channel.on('postgres_changes', { ...wanted, filter }, note)
    channel.on('postgres_changes', { ...wanted, filter: `owner=eq.${person.sub}` }, note)
    await live(channel)
    return { heard, leave: () => client.disconnect() }
  }
  const [own, others] = [await follow(member), await follow(stranger)]
  const answerIn = async (person: typeof member, space: string | null) => {
    const { rows } = await db.admin.query<{ id: string }>(
      `insert into conversations (uid, model_name, space_id, is_shared) values ($1, 'm', $2, $2::uuid is not null) returning id`,
      [person.sub, space],
    )
    await db.admin.query(`insert into messages (conversation_id, content, sender_role) values ($1, 'There.', 2)`, [
      rows[0]?.id,
    ])
  }
  await answerIn(author, first)
  await answerIn(author, last)
  await answerIn(stranger, null)
  const heard = [await own.heard.next(), await own.heard.next()]
  expect(heard).toEqual([first, last])
  expect(await others.heard.next()).toBeNull()
  await Promise.all([own.leave(), others.leave()])
  await node.close()
})
