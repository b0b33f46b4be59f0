/** Data folders of released versions, upgraded by this one: nothing is lost, also where the upgrade is killed. */
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { clusterIn } from '#server/database/cluster-folders.ts'
import { stopOrphan } from '#server/database/embedded.ts'
import { type AlcoveProcess, createDataDir, READY, startAlcove, startAndKill } from './alcove.ts'
import {
  addFiles,
  ask,
  openClient,
  readRelease,
  type ReleasedPerson,
  RELEASES,
  see,
  unpackDataFolder,
  type Visitor,
  visitorOf,
} from './release.ts'
import { startStubModel } from './stub-model.ts'

const root = path.join(import.meta.dirname, '..')
const CHANGES_DATABASE = 'changing the database'

const versions = (await readdir(RELEASES))
  .filter((name) => name.endsWith('.tar.zst'))
  .map((name) => name.slice(0, -'.tar.zst'.length))
  .sort()

test('every version of the changelog before the newest has a filled data folder', async () => {
  const changelog = await readFile(path.join(root, 'CHANGELOG.md'), 'utf8')
  const [, ...released] = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version]) => version)
  expect(versions).toEqual(released.sort())
})

/** @param model is a model server, to which keys of people are sent. */
async function unpack(version: string, model: string) {
  const { dataDir, remove } = await createDataDir()
  onTestFinished(remove)
  // A server that was killed leaves its PostgreSQL behind.
  onTestFinished(() => stopOrphan(clusterIn(dataDir), createLog('warn')))
  await unpackDataFolder(version, dataDir)
  return {
    dataDir,
    // The archive gets older: sessions in it would end by their age.
    environment: { DATA_DIR: dataDir, OPENAI_BASE_URL: model, AUTH_SESSION_DAYS: '0', AUTH_SESSION_IDLE_DAYS: '0' },
  }
}

async function startModel() {
  const stub = await startStubModel({ words: 'The model has read the old key.' })
  onTestFinished(() => stub.stop())
  return stub
}

async function start(environment: Readonly<Record<string, string>>): Promise<AlcoveProcess> {
  const alcove = await startAlcove(environment)
  onTestFinished(async () => {
    await alcove.end()
  })
  return alcove
}

async function signIn(alcove: AlcoveProcess, { email, password }: ReleasedPerson): Promise<Visitor> {
  const client = await openClient(alcove)
  const { data, error } = await client.auth.signInWithPassword({ email, password })
  if (error) throw error
  return visitorOf(client, data.session)
}

const seenBy = ({ email: _email, password: _password, refreshToken: _token, ...seen }: ReleasedPerson) => seen

/** Requires that nothing of one person reaches another. */
async function trespass(alcove: AlcoveProcess, { client, headers }: Visitor, other: ReleasedPerson): Promise<void> {
  const { documents, messages, conversations, object } = other
  const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)
  for (const [table, column, of] of [
    ['documents', 'id', documents],
    ['document_pages', 'document_id', documents],
    ['messages', 'id', messages],
    ['message_feedback', 'message_id', messages],
    ['message_versions', 'message_id', messages],
    ['conversations', 'id', conversations],
  ] as const)
    expect(await client.from(table).select(column).in(column, ids(of)), table).toMatchObject({ data: [], error: null })
  for (const { id } of documents)
    for (const address of [`${id}/file`, `${id}/pages/1`])
      expect((await fetch(`${alcove.url}/api/documents/${address}`, { headers })).status).toBe(404)
  expect((await client.storage.from(object.bucket).download(object.name)).error).not.toBeNull()
}

test.each(versions)(
  '%s: both people find everything, and nothing of each other',
  { timeout: 120_000 },
  async (version) => {
    const stub = await startModel()
    const { environment } = await unpack(version, stub.baseUrl)
    const { people } = await readRelease(version)
    const alcove = await start(environment)
    expect(alcove.output()).toContain(CHANGES_DATABASE)

    for (const person of people) {
      const visitor = await signIn(alcove, person)
      expect(await see(alcove, visitor, person.object)).toEqual(seenBy(person))
      const old = await openClient(alcove)
      const { data, error } = await old.auth.refreshSession({ refresh_token: person.refreshToken })
      expect(error).toBeNull()
      expect(data.user?.email).toBe(person.email)

      for (const other of people.filter((one) => one !== person)) await trespass(alcove, visitor, other)

      const [cited] = person.citations
      const asked = person.messages[0]?.content ?? ''
      const conversation = async (model_name: string) => {
        const id = randomUUID()
        const inserted = await visitor.client.from('conversations').insert({ id, uid: visitor.id, model_name })
        expect(inserted.error).toBeNull()
        return id
      }
      const answer = await ask(visitor, await conversation('alcove-reader'), asked)
      expect(answer.documents, answer.content).toContain(cited?.document)
      await addFiles(alcove, visitor, [
        { name: 'added.txt', bytes: Buffer.from('The heron nests in the third boathouse.\n') },
      ])
      const added = await ask(visitor, await conversation('alcove-reader'), 'Where does the heron nest?')
      expect(added.content).toContain('third boathouse')
      const byModel = await ask(visitor, await conversation('gpt-4o'), 'Who are you?')
      expect(byModel.content).toContain('The model has read the old key.')
    }

    await alcove.end()
    const again = await start(environment)
    expect(again.output()).not.toContain(CHANGES_DATABASE)
    const [first] = people
    if (first) await signIn(again, first)
  },
)

test.each(versions)('%s: an upgrade that is killed at any migration goes on', { timeout: 240_000 }, async (version) => {
  const stub = await startModel()
  const whole = await unpack(version, stub.baseUrl)
  const complete = await start(whole.environment)
  const migrations = [...complete.output().matchAll(/"migration":"([^"]+)"/g)].map(([, name]) => name ?? '')
  await complete.end()
  expect(migrations.length).toBeGreaterThan(0)

  const { environment } = await unpack(version, stub.baseUrl)
  let output = ''
  for (let kills = 6; kills > 0 && !output.includes(READY); kills -= 1) {
    // A kill may come late: the next one is for a migration that has not been applied yet.
    const left = migrations.filter((name) => !output.includes(`"${name}"`))
    const stop = left[Math.ceil(left.length / kills) - 1]
    if (stop === undefined) break
    output += await startAndKill(environment, `"${stop}"`)
  }
  expect(output).toContain(CHANGES_DATABASE)
  const alcove = await start(environment)
  const { people } = await readRelease(version)
  for (const person of people)
    expect(await see(alcove, await signIn(alcove, person), person.object)).toEqual(seenBy(person))
})
