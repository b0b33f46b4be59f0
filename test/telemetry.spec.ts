/** Traces and metrics of a running server: what a collector and a scraper get, and what no one does. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { publicConfig } from '#contract/auth.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { startAlcove } from '#server/start/start.ts'
import { type CollectedSpan, startOtlpCollector } from './otlp-collector.ts'
import { copyStartedDataDir } from './started-data.ts'
import { startStubModel } from './stub-model.ts'

const WAIT_LIMIT = { timeout: 30_000, interval: 50 }
/** Words of the person, none of which may leave the server. */
const SECRETS = { email: 'seraphina@example.test', file: 'Quillfeather lease.txt', question: 'Who owns Quillfeather?' }

async function start(environment: Record<string, string>) {
  const [folder, stub] = [await copyStartedDataDir(), await startStubModel()]
  const config = readConfig({
    DATA_DIR: folder.dataDir,
    PORT: '0',
    AUTH_AUTOCONFIRM: 'true',
    OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
    ...environment,
  })
  const alcove = await startAlcove(config, createLog('silent'))
  onTestFinished(async () => {
    await alcove.stop()
    await stub.stop()
    await folder.remove()
  })
  return alcove
}

async function ask(client: SupabaseClient, model: string): Promise<void> {
  const made = await client.from('conversations').insert({ model_name: model }).select('id').single().throwOnError()
  const { id } = z.object({ id: z.uuid() }).parse(made.data)
  const question = { conversation_id: id, content: SECRETS.question, sender_role: SENDER_ROLES.user }
  await client.from('messages').insert(question).throwOnError()
}

/** Signs up, uploads a file and asks a model about it. Resolves when the answer is stored. */
async function work(address: string): Promise<{ client: SupabaseClient; requestId: string | null }> {
  const apikey = publicConfig.parse(await (await fetch(`${address}/config.json`)).json()).supabaseAnonKey
  const client = createClient(address, apikey, { auth: { persistSession: false } })
  const { data } = await client.auth.signUp({ email: SECRETS.email, password: 'a long enough password' })
  const authorization = `Bearer ${data.session?.access_token}`
  const form = new FormData()
  form.append('files', new Blob(['Quillfeather belongs to Ottoline.'], { type: 'text/plain' }), SECRETS.file)
  const uploaded = await fetch(`${address}/api/documents`, { method: 'POST', headers: { authorization }, body: form })
  expect(uploaded.status).toBe(201)
  await vi.waitFor(async () => {
    const rows: unknown = await (await fetch(`${address}/api/documents`, { headers: { authorization } })).json()
    expect(rows).toMatchObject([{ state: 'ready' }])
  }, WAIT_LIMIT)
  await ask(client, 'openai-compatible/stub-gpt')
  await vi.waitFor(async () => {
    const answers = await client.from('messages').select('id').eq('sender_role', SENDER_ROLES.assistant).throwOnError()
    expect(answers.data).toHaveLength(1)
  }, WAIT_LIMIT)
  const listed = await fetch(`${address}/api/documents`, { headers: { authorization } })
  return { client, requestId: listed.headers.get('x-request-id') }
}

test('a collector gets spans of every stage, bound to requests, without a word of people', async () => {
  const collector = await startOtlpCollector()
  onTestFinished(collector.stop)
  const alcove = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    OTEL_SERVICE_NAME: 'desk',
  })
  const { requestId } = await work(alcove.address)
  await alcove.stop()

  const named = (name: string | RegExp) =>
    collector.spans.filter((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)))
  const parentOf = ({ parentSpanId }: CollectedSpan) => collector.spans.find(({ spanId }) => spanId === parentSpanId)
  for (const name of [
    'request auth', 'request rest', 'request api', 'job documents.ingest-together', 'parse text', 'index batch',
    'reply answer', 'search passages', 'model chat', 'phase found', 'phase begun', 'phase written', 'phase checked',
  ]) expect([name, named(name).length > 0]).toEqual([name, true]) // prettier-ignore

  const [listed] = named('request api').filter(({ attributes }) => attributes['alcove.request.id'] === requestId)
  expect(listed?.attributes).toMatchObject({ method: 'GET', route: '/api/documents', status: 200 })
  const [transaction] = named('transaction authenticated').filter((span) => parentOf(span) === listed)
  expect(transaction?.traceId).toBe(listed?.traceId)
  expect(named(/^statement /).some((span) => parentOf(span)?.name.startsWith('transaction '))).toBe(true)
  expect(named('search passages').some((span) => parentOf(span)?.name.startsWith('transaction '))).toBe(true)
  expect(named('model chat').map((span) => parentOf(span)?.name)).toContain('reply answer')

  expect([...collector.services]).toEqual(['desk'])
  expect(collector.headers.every((headers) => headers['x-key'] === 'a b')).toBe(true)
  for (const name of ['alcove.request.duration', 'alcove.reply.phase.duration', 'alcove.model.tokens', 'alcove_disk_free_bytes'])
    expect(collector.metricNames).toContain(name) // prettier-ignore
  for (const secret of ['seraphina', 'Quillfeather', 'Ottoline']) expect(collector.text()).not.toContain(secret)
})

test('a scraper gets durations by stage, tokens, cache hits and queues', async () => {
  const alcove = await start({})
  const scrape = async () => (await fetch(`${alcove.address}/metrics`)).text()
  await scrape()
  await work(alcove.address)
  const wanted = [
    'alcove_request_duration_seconds_count{service="rest",outcome="ok"}',
    'alcove_transaction_duration_seconds_count{role="authenticated",outcome="ok"}',
    'alcove_job_duration_seconds_count{queue="documents.ingest-together",outcome="ok"}',
    'alcove_parse_duration_seconds_count{parser="text",outcome="ok"}',
    'alcove_search_duration_seconds_count{unit="passages",outcome="ok"}',
    'alcove_model_duration_seconds_count{purpose="chat",outcome="ok"}',
    'alcove_reply_duration_seconds_count{kind="answer",outcome="ok"}',
    'alcove_reply_phase_duration_seconds_count{phase="begun"}',
    'alcove_model_tokens_total{direction="out"}',
    'alcove_index_cache_misses_total',
  ]
  // The worker ends its turn after the answer can be read.
  const metrics = await vi.waitFor(async () => {
    const lines = (await scrape()).split('\n')
    const isCounted = (series: string) =>
      lines.some((line) => line.startsWith(`${series} `) && Number(line.slice(series.length + 1)) > 0)
    expect(wanted.filter((series) => !isCounted(series))).toEqual([])
    return lines.join('\n')
  }, WAIT_LIMIT)
  for (const secret of ['seraphina', 'Quillfeather', 'Ottoline']) expect(metrics).not.toContain(secret)
})

test('questions that wait are counted with their age', async () => {
  const alcove = await start({ ALCOVE_PARTS: 'services,api' })
  const apikey = publicConfig.parse(await (await fetch(`${alcove.address}/config.json`)).json()).supabaseAnonKey
  const client = createClient(alcove.address, apikey, { auth: { persistSession: false } })
  await client.auth.signUp({ email: SECRETS.email, password: 'a long enough password' })
  await ask(client, 'alcove-reader')
  const metrics = await (await fetch(`${alcove.address}/metrics`)).text()
  expect(metrics).toContain('alcove_queue_waiting{queue="replies"} 1\n')
  expect(metrics).toMatch(/alcove_queue_oldest_wait_seconds\{queue="replies"\} 0?\.?\d/)
})

test('dashboard and alerts name metrics that there are, and every alert is explained', async () => {
  const read = (file: string) => readFile(new URL(`../${file}`, import.meta.url), 'utf8')
  const [alerts, dashboard, manual] = await Promise.all(
    ['deploy/monitoring/alerts.yaml', 'deploy/monitoring/grafana-dashboard.json', 'docs/operate.md'].map(read),
  )
  const target = await mkdtemp(path.join(tmpdir(), 'alcove-backups-'))
  onTestFinished(() => rm(target, { recursive: true }))
  const alcove = await start({ BACKUP_TARGET: target })
  const metrics = await (await fetch(`${alcove.address}/metrics`)).text()
  const told = new Set([...metrics.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name))
  const named = `${alerts}${dashboard}`.match(/\b(alcove|process|nodejs)_\w+/g) ?? []
  expect(named.length).toBeGreaterThan(30)
  const series = (name: string) => name.replace(/_(bucket|count|sum)$/, '')
  expect(named.filter((name) => !told.has(name) && !told.has(series(name)))).toEqual([])
  const names = [...(alerts ?? '').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !manual?.includes(`| \`${name}\` |`))).toEqual([])
})
