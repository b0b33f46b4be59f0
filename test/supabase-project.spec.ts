/**
 * A hosted Supabase project serves the four services; this process serves the page, the API, replies and parsing on its
 * database.
 */
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type AlcoveProcess, createDataDir, startAlcove } from './alcove.ts'

const OWNER_PASSWORD = 'of the plain role that a project gives'
const MIGRATIONS = new URL('../server/database/migrations/product/', import.meta.url)

let admin: pg.Client
let databaseName: string
let issuer: Server
let issuerUrl: string
let sign: (person: string) => Promise<string>
let folder: Awaited<ReturnType<typeof createDataDir>>
let alcove: AlcoveProcess

/** A database prepared like a project's, and the connection of its ordinary owner. */
async function createProject() {
  const { host, user, password } = inject('postgres')
  const name = `project_${randomUUID().replaceAll('-', '')}`
  const server = new pg.Client({ host, user, password, database: 'postgres' })
  await server.connect()
  await server.query(`do $$ begin
    create role project_owner login nosuperuser createrole bypassrls;
  exception when duplicate_object then null; end $$`)
  await server.query(`alter role project_owner password '${OWNER_PASSWORD}'`)
  await server.query(`create database ${name}`)
  await server.query(`grant create, connect on database ${name} to project_owner`)
  await server.end()
  const client = new pg.Client({ host, user, password, database: name })
  await client.connect()
  await client.query(await readFile(new URL('./supabase-project.sql', import.meta.url), 'utf8'))
  return { client, name, owner: { host, user: 'project_owner', password: OWNER_PASSWORD, database: name } }
}

async function dropProject(client: pg.Client, name: string): Promise<void> {
  await client.end()
  const { host, user, password } = inject('postgres')
  const server = new pg.Client({ host, user, password, database: 'postgres' })
  await server.connect()
  await server.query(`drop database ${name} with (force)`)
  await server.end()
}

beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'project', alg: 'ES256', use: 'sig' }]
  issuer = createServer((_request, response) => response.end(JSON.stringify({ keys })))
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve))
  issuerUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
  sign = (person) =>
    new SignJWT({ role: 'authenticated', aud: 'authenticated', session_id: randomUUID() })
      .setProtectedHeader({ alg: 'ES256', kid: 'project' })
      .setSubject(person)
      .setIssuer(`${issuerUrl}/auth/v1`)
      .setExpirationTime('1h')
      .sign(privateKey)
  const project = await createProject()
  admin = project.client
  databaseName = project.name
  folder = await createDataDir()
  const { host } = project.owner
  alcove = await startAlcove({
    DATA_DIR: folder.dataDir,
    DATABASE_URL: `postgresql://project_owner:${encodeURIComponent(OWNER_PASSWORD)}@localhost/${databaseName}?host=${encodeURIComponent(host)}`,
    ALCOVE_SECRET: 'a secret of our own beside the project',
    ALCOVE_PARTS: 'api,workers',
    SUPABASE_URL: issuerUrl,
    SUPABASE_ANON_KEY: 'sb_publishable_key',
    LOG_LEVEL: 'warn',
  })
})
afterAll(async () => {
  await alcove.end()
  await dropProject(admin, databaseName)
  await new Promise((resolve) => issuer.close(resolve))
  await folder.remove()
})

async function createPerson() {
  const id = randomUUID()
  await admin.query('insert into auth.users (id, email) values ($1, $2)', [id, `${id}@example.test`])
  const token = await sign(id)
  const call = (method: string, at: string, body?: unknown) =>
    fetch(`${alcove.url}${at}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return { id, call }
}

/** Functions that read or write more than their caller may: who is a member of what, what an invitation or link shows, of which vendors there is a key, and how near a limit all people are. */
const CALLABLE_WITH_OWN_RIGHTS = [
  'absence_of_document(uuid,uuid)',
  'answer_invitation(uuid,boolean)',
  'confirmed_email()',
  'copy_conversation(uuid,uuid)',
  'copy_document(uuid,uuid)',
  'create_link(uuid,integer,boolean)',
  'delete_space(uuid)',
  'has_members(uuid)',
  'has_space_keys(uuid)',
  'has_text_room(uuid)',
  'invite_to_space(uuid,text,text)',
  'libraries_to(text)',
  'may_link(uuid)',
  'move_conversation(uuid,uuid)',
  'move_document(uuid,uuid)',
  'open_link(bytea,bigint,integer)',
  'own_limits()',
  'own_paid_libraries()',
  'received_invitations()',
  'space_people(uuid)',
  'spaces_to(text)',
  'unshare_conversation(uuid)',
  'vendors_with_own_key()',
]

test('the migrations apply as a plain role, file by file, and nothing is given but by name', async () => {
  const project = await createProject()
  const plain = new pg.Client(project.owner)
  await plain.connect()
  for (const name of (await readdir(MIGRATIONS)).sort())
    await plain.query(await readFile(new URL(name, MIGRATIONS), 'utf8')).catch((error: unknown) => {
      throw new Error(`${name} does not apply`, { cause: error })
    })
  await plain.end()
  const { rows } = await project.client.query<{ given: string }>(
    `select grantee || ' ' || privilege_type || ' ' || table_name as given from information_schema.role_table_grants
     where table_schema = 'public' and (grantee = 'anon' or privilege_type = 'TRUNCATE')
       and grantee in ('anon', 'authenticated') order by 1`,
  )
  expect(rows).toEqual([])
  const rights = await project.client.query(
    `select has_table_privilege('authenticated', 'replies', 'insert') as "queuesReplies",
       has_column_privilege('authenticated', 'documents', 'path', 'update') as "movesBytes",
       has_column_privilege('authenticated', 'documents', 'filename', 'update') as "renamesDocuments"`,
  )
  expect(rights.rows).toEqual([{ queuesReplies: false, movesBytes: false, renamesDocuments: true }])
  const functions = await project.client.query<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = 'public' and p.prosecdef and has_function_privilege('authenticated', p.oid, 'execute')`,
  )
  // Each reads who is calling, and `test/isolation.db.test.ts` calls them with the ids of others.
  expect(functions.rows.map(({ name }) => name.replace(/^public\./, '')).toSorted()).toEqual(CALLABLE_WITH_OWN_RIGHTS)
  const published = await project.client.query<{ name: string }>(
    `select tablename as name from pg_publication_tables where pubname = 'supabase_realtime'`,
  )
  expect(published.rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['conversations', 'messages']))
  await dropProject(project.client, project.name)
})

test('the page is told where the project is, and the services are not served here', async () => {
  expect(await alcove.config()).toMatchObject({
    supabaseUrl: issuerUrl,
    supabaseAnonKey: 'sb_publishable_key',
    testAccount: null,
    mailbox: null,
  })
  const page = await fetch(`${alcove.url}/`)
  expect(page.headers.get('content-security-policy')).toContain(`${issuerUrl} ${issuerUrl.replace('http', 'ws')}`)
  for (const address of ['/auth/v1/settings', '/rest/v1/messages', '/storage/v1/status'])
    expect((await fetch(`${alcove.url}${address}`)).status, address).toBe(404)
})

test('a person of the project asks and is answered, and nobody else sees it', async () => {
  const [person, stranger] = [await createPerson(), await createPerson()]
  const id = randomUUID()
  expect((await person.call('POST', '/api/conversations', { id, title: 'Hosted', model_name: 'alcove-reader', uid: person.id })).status).toBeLessThan(300) // prettier-ignore
  const sent = await person.call('POST', `/api/conversations/${id}/messages`, { content: 'Hello?', senderRole: 1 })
  expect(sent.status).toBeLessThan(300)
  const roles = async () => {
    const { rows } = await admin.query<{ sender_role: number }>(
      'select sender_role from messages where conversation_id = $1 order by position',
      [id],
    )
    return rows.map(({ sender_role }) => sender_role)
  }
  await expect.poll(roles).toEqual([1, 2])
  expect((await stranger.call('GET', `/api/conversations/${id}`)).status).toBe(404)
  expect((await fetch(`${alcove.url}/api/conversations/${id}`)).status).toBe(401)
})
