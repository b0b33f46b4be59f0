import { afterAll, expect, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { createTestDatabase } from '#test/database.ts'
import { serveLoopback } from '#test/loopback.ts'
import { refreshModelsAtStart } from './models.ts'

const db = await createTestDatabase()
afterAll(() => db.drop())

test('an endpoint that is not ready at the start is retried until it responds', async () => {
  let asked = 0
  const { origin } = await serveLoopback((_request, response) => {
    asked += 1
    response.writeHead(asked < 3 ? 503 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data: [{ id: 'late', context_length: 8_192 }] }))
  })
  const none = { apiKey: undefined, baseUrl: undefined }
  const compatible = { apiKey: undefined, baseUrl: `${origin}/v1` }
  const refresh = (retryDelaysMs: readonly number[]) =>
    refreshModelsAtStart({
      database: db.database,
      settings: { anthropic: none, openai: none, compatible, idleTimeoutMs: 1_000 },
      defaultModel: undefined,
      log: createLog('silent'),
      retryDelaysMs,
      signal: new AbortController().signal,
    })
  const listed = async () =>
    (
      await db.admin.query<Record<string, unknown>>(
        `select model_identifier, is_default from models where provider = 'OpenAI-compatible'`,
      )
    ).rows
  await refresh([1])
  expect([asked, await listed()]).toEqual([2, []])
  await refresh([1, 1])
  expect(asked).toBe(3)
  expect(await listed()).toEqual([{ model_identifier: 'openai-compatible/late', is_default: true }])
})
