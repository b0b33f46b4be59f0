/** A server whose disk has less room than its margin. */
import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type AlcoveProcess, startAlcove } from './alcove.ts'
import { copyStartedDataDir } from './started-data.ts'

/** More than any disk has. */
const MARGIN_MB = '900000000'
const PASSWORD = 'a long enough password'

async function open(alcove: AlcoveProcess) {
  const { supabaseAnonKey } = await alcove.config()
  return createClient(alcove.url, supabaseAnonKey, { auth: { persistSession: false } })
}

test('files are refused in words, and what is there is read and answered from', { timeout: 120_000 }, async () => {
  const { dataDir, remove } = await copyStartedDataDir()
  onTestFinished(remove)
  const email = `${randomUUID()}@example.test`
  const roomy = await startAlcove({ DATA_DIR: dataDir, AUTH_AUTOCONFIRM: 'true' })
  const client = await open(roomy)
  const { data } = await client.auth.signUp({ email, password: PASSWORD })
  const headers = { authorization: `Bearer ${data.session?.access_token ?? ''}` }
  const form = (count: number) => {
    const body = new FormData()
    for (let n = 0; n < count; n += 1)
      body.append(
        'files',
        new Blob([`The lamp ${n} stands in the alcove. ${'x'.repeat(200_000)}`], { type: 'text/plain' }),
        `lamp ${n}.txt`,
      )
    return body
  }
  const upload = (at: AlcoveProcess, count: number) =>
    fetch(`${at.url}/api/documents`, { method: 'POST', headers, body: form(count) })
  expect((await upload(roomy, 1)).status).toBe(201)
  await vi.waitUntil(
    async () => (await client.from('documents').select('id').eq('state', 'ready')).data?.length === 1,
    { timeout: 60_000 },
  )
  await roomy.end()

  const full = await startAlcove({ DATA_DIR: dataDir, AUTH_AUTOCONFIRM: 'true', DISK_MARGIN_MB: MARGIN_MB })
  onTestFinished(async () => {
    await full.end()
  })
  for (const count of [1, 5]) {
    const refused = await upload(full, count)
    expect(refused.status).toBe(413)
    expect(await refused.text()).toContain('The disk of this server is nearly full')
  }
  const again = await open(full)
  const { data: session } = await again.auth.signInWithPassword({ email, password: PASSWORD })
  const stored = await again.storage
    .from('documents')
    .upload(`${session.user?.id ?? ''}/a.txt`, new Blob(['x'.repeat(100_000)], { type: 'text/plain' }))
  expect(stored.error?.message).toContain('The disk of this server is nearly full')

  const documents = (await again.from('documents').select('id')).data ?? []
  expect(documents).toHaveLength(1)
  const file = await fetch(`${full.url}/api/documents/${String(documents[0]?.id)}/file`, { headers })
  expect(await file.text()).toContain('The lamp 0 stands in the alcove.')
  const conversation = randomUUID()
  await again.from('conversations').insert({ id: conversation, uid: session.user?.id, model_name: 'alcove-reader' })
  await again
    .from('messages')
    .insert({ conversation_id: conversation, content: 'Where does the lamp stand?', sender_role: 1 })
  await vi.waitUntil(async () => (await again.from('messages').select('id')).data?.length === 2, { timeout: 60_000 })
  expect(await (await fetch(`${full.url}/metrics`)).text()).toMatch(/^alcove_disk_free_bytes \d+/m)
})
