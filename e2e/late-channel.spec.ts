/** A live channel that is joined long after the page's first reads. */
import type pg from 'pg'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectToFolder } from '#test/fill-conversation.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
let page: Page
let client: pg.Client
let owner: string

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  client = await connectToFolder(stage.dataDir)
  const { rows } = await client.query<{ id: string }>('select id from auth.users')
  owner = rows[0]?.id ?? ''
})
afterAll(async () => {
  await client.end()
  await stage.close()
})

const addConversation = (title: string) =>
  client.query(`insert into conversations (uid, title, model_name) values ($1, $2, 'some-model')`, [owner, title])
const history = () => page.getByRole('region', { name: 'Chat history' })
const listed = async () => (await history().getByRole('listitem').getByText(/note/).allTextContents()).toSorted()

const LISTS = /\/rest\/v1\/(conversations|documents|models)\?|\/api\/(users\/.*\/conversations|documents\/count)/

/** Names of the lists by how often the page asked for them. */
function countReads(): Map<string, number> {
  const reads = new Map<string, number>()
  page.on('request', (request) => {
    const list = LISTS.exec(request.url())
    if (list && request.method() === 'GET') reads.set(list[0], (reads.get(list[0]) ?? 0) + 1)
  })
  return reads
}

test('every list is read once, and what changed before the channel was joined is not missed', async () => {
  await addConversation('a note that is renamed')
  await addConversation('a note that is deleted')
  const joined = Promise.withResolvers<undefined>()
  await page.routeWebSocket(/realtime/, async (socket) => {
    await joined.promise
    socket.connectToServer()
  })
  const address = page.url()
  // Reads that the page before has not ended yet would count.
  await page.goto('about:blank')
  const reads = countReads()
  await page.goto(address)
  await expect.poll(listed).toEqual(['a note that is deleted', 'a note that is renamed'])
  await addConversation('a new note')
  await client.query(`update conversations set title = 'a note with another name' where title like '%renamed'`)
  await client.query(`delete from conversations where title like '%deleted'`)
  joined.resolve(undefined)
  await expect.poll(listed).toEqual(['a new note', 'a note with another name'])
  expect(Object.fromEntries(reads)).toEqual({
    '/api/documents/count': 1,
    '/rest/v1/conversations?': 1,
    '/rest/v1/models?': 1,
  })
  // The channel is there: later changes arrive by themselves.
  await addConversation('a later note')
  await expect.poll(listed).toContain('a later note')
})
