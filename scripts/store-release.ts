/**
 * Fills a data folder by a released version and stores it in `test/releases`, for the test of upgrades:
 * `node_modules/.bin/node scripts/store-release.ts <checkout of the release, with its packages>`.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createTokens } from '#server/access/tokens.ts'
import { connectToRunning } from '#server/database/embedded.ts'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { makeDocx } from '#test/make-docx.ts'
import { makePdf } from '#test/make-pdf.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import {
  addFiles,
  ask,
  expectationsOf,
  type NamedFile,
  openClient,
  packDataFolder,
  type Release,
  type ReleasedPerson,
  see,
  type Visitor,
  visitorOf,
} from '#test/release.ts'
import { startStubModel } from '#test/stub-model.ts'

const PASSWORD = 'a long enough password'

interface Plan {
  readonly email: string
  readonly files: readonly NamedFile[]
  readonly questions: readonly string[]
  readonly preferences: Readonly<Record<string, string>>
}

const PEOPLE: readonly Plan[] = [
  {
    email: 'ada@example.test',
    files: [
      {
        name: 'lighthouse.txt',
        bytes: Buffer.from(
          'The keeper of the lighthouse is called Odile Marchetti.\n\nThe lamp burns 42 litres of oil in a night. Its light is seen over 19 sea miles.\n',
        ),
      },
      {
        name: 'harbour.pdf',
        bytes: makePdf([
          '# The harbour\nThe harbour master closes the gate at a wind of force nine.',
          'Ships that are longer than 85 metres need a pilot from Brindle Point.',
        ]),
      },
      {
        name: 'tides.xlsx',
        bytes: makeWorkbook([
          {
            name: 'Tides',
            rows: [['Place', 'High water', 'Metres'], ['Brindle Point', '06:40', 4.2], ['Gull Rock', '07:15', 3.9]],
          },
        ]),
      },
    ],
    questions: ['Who is the keeper of the lighthouse?', 'Which ships need a pilot?', 'When is high water at Gull Rock?'],
    preferences: { default_model: 'alcove-reader' },
  },
  {
    email: 'ben@example.test',
    files: [
      { name: 'recipe.docx', bytes: makeDocx([{ paragraph: 'The quince jelly simmers for fifty minutes with two cloves.' }]) },
      { name: 'größen – 尺寸.txt', bytes: Buffer.from('Die Werkbank ist 182 cm lang.\n工作台的高度是九十厘米。\n') },
    ],
    questions: ['How long does the quince jelly simmer?', 'Wie lang ist die Werkbank?'],
    preferences: { theme: 'light' },
  },
] // prettier-ignore

async function requireSuccess(response: Response): Promise<unknown> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`)
  return response.json()
}

function requireNoError({ error }: { readonly error: Error | null }): void {
  if (error) throw error
}

async function replaceAnswer(
  alcove: AlcoveProcess,
  { client, headers }: Visitor,
  answer: { readonly id: string; readonly conversation_id: string },
): Promise<void> {
  const address = `${alcove.url}/api/conversations/${answer.conversation_id}/messages/${answer.id}/regenerate`
  const response = await fetch(address, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{}',
  })
  if (!response.ok) throw new Error(`${address}: ${response.status}`)
  for (let replaced = 0; replaced === 0; await wait(100))
    replaced = (await client.from('message_versions').select('message_id')).data?.length ?? 0
}

async function fill(alcove: AlcoveProcess, serviceKey: string, plan: Plan): Promise<ReleasedPerson> {
  const { email, files, questions, preferences } = plan
  const client = await openClient(alcove)
  const { data, error } = await client.auth.signUp({ email, password: PASSWORD })
  if (error) throw error
  const visitor = visitorOf(client, data.session)
  await addFiles(alcove, visitor, files)

  for (const question of questions) {
    const id = crypto.randomUUID()
    requireNoError(
      await client.from('conversations').insert({ id, uid: visitor.id, title: question, model_name: 'alcove-reader' }),
    )
    const { documents } = await ask(visitor, id, question)
    if (documents.length === 0) throw new Error(`the answer to "${question}" cites nothing`)
  }
  const { data: answers } = await client.from('messages').select('id, conversation_id').eq('sender_role', 2).limit(1)
  await replaceAnswer(alcove, visitor, z.object({ id: z.string(), conversation_id: z.string() }).parse(answers?.[0]))
  requireNoError(await client.from('message_feedback').insert({ message_id: answers?.[0]?.id, rating: 1 }))
  requireNoError(await client.from('user_settings').upsert({ owner: visitor.id, preferences }))
  await requireSuccess(
    await fetch(`${alcove.url}/api/providers`, {
      method: 'POST',
      headers: { ...visitor.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'openai', apiKey: `sk-of-nobody-${email.slice(0, 3)}4711` }),
    }),
  )
  const object = { bucket: `notes-of-${email.slice(0, 3)}`, name: `${visitor.id}/note.txt`, text: `A note of ${email}` }
  const authorization = `Bearer ${serviceKey}`
  await requireSuccess(
    await fetch(`${alcove.url}/storage/v1/bucket`, {
      method: 'POST',
      headers: { authorization, apikey: serviceKey, 'content-type': 'application/json' },
      body: JSON.stringify({ id: object.bucket, name: object.bucket, public: false }),
    }),
  )
  requireNoError(await client.storage.from(object.bucket).upload(object.name, object.text))
  const seen = await see(alcove, visitor, object)
  return { email, password: PASSWORD, refreshToken: data.session?.refresh_token ?? '', ...seen }
}

/** People may store objects of their own in buckets with these names. Operators add such policies by hand. */
const BUCKET_POLICY = `create policy "notes of their owners" on storage.objects to authenticated
  using (bucket_id like 'notes-of-%' and owner_id = auth.uid()::text) with check (bucket_id like 'notes-of-%' and owner_id = auth.uid()::text)`

/** More segments than PostgreSQL has recycled, which hold old records. */
const SEGMENTS = 8

/** Leaves little in the write-ahead log. @returns the segment of it that is in use */
async function shrinkDatabase(admin: pg.Client): Promise<string> {
  await admin.query('vacuum full')
  await admin.query('alter system set wal_recycle = off')
  await admin.query('select pg_reload_conf()')
  for (let segment = 0; segment < SEGMENTS; segment += 1) {
    await admin.query('select pg_switch_wal()')
    await admin.query('checkpoint')
  }
  await admin.query('alter system reset all')
  const { rows } = await admin.query<{ segment: string }>('select pg_walfile_name(pg_current_wal_lsn()) as segment')
  return z.string().parse(rows[0]?.segment)
}

/**
 * After a clean stop PostgreSQL reads only the segment of its last checkpoint. Other files of its last run name paths of this machine.
 */
async function removeUnneeded(dataDir: string, needed: string): Promise<void> {
  const cluster = path.join(dataDir, 'postgres')
  for (const name of ['postmaster.opts', 'postmaster.pid', 'log', 'logfile'])
    await rm(path.join(cluster, name), { recursive: true, force: true })
  const folder = path.join(cluster, 'pg_wal')
  for (const name of await readdir(folder))
    if (/^[0-9A-F]{24}$/.test(name) && name !== needed) await rm(path.join(folder, name))
}

async function storeRelease(checkout: string): Promise<Release> {
  const { version } = z
    .looseObject({ version: z.string() })
    .parse(JSON.parse(await readFile(path.join(checkout, 'package.json'), 'utf8')))
  const { dataDir, remove } = await createDataDir()
  const stub = await startStubModel()
  try {
    const environment = { DATA_DIR: dataDir, AUTH_AUTOCONFIRM: 'true', OPENAI_BASE_URL: stub.baseUrl }
    const alcove = await startAlcove(environment, { checkout })
    const { people, segment } = await fillFolder(alcove, dataDir).finally(() => alcove.end())
    await removeUnneeded(dataDir, segment)
    await packDataFolder(dataDir, version, ['blobs', 'postgres', 'secrets.json'])
    return { version, people }
  } finally {
    await stub.stop()
    await remove()
  }
}

async function fillFolder(alcove: AlcoveProcess, dataDir: string) {
  const secrets = await loadSecretsFromFolder(dataDir)
  const { serviceRoleKey } = await createTokens(secrets)
  const admin = new pg.Client(await connectToRunning(dataDir, secrets.databasePassword))
  await admin.connect()
  try {
    await admin.query(BUCKET_POLICY)
    const people = []
    for (const plan of PEOPLE) people.push(await fill(alcove, serviceRoleKey, plan))
    return { people, segment: await shrinkDatabase(admin) }
  } finally {
    await admin.end()
  }
}

const [checkout] = process.argv.slice(2)
if (checkout === undefined) throw new Error('the checkout of the release is not given')
const release = await storeRelease(path.resolve(checkout))
await writeFile(expectationsOf(release.version), `${JSON.stringify(release, null, 2)}\n`)
