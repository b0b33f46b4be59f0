import { expect, test } from 'vitest'
import { createStubProviders, openTestAssistant } from '#test/assistant.ts'
import { serveLoopback } from '#test/loopback.ts'
import { event, FORMATS } from '#test/wire-formats.ts'

const { db, stub, assistant } = await openTestAssistant()
const { ask, answersIn, watch } = assistant
const { text, end } = FORMATS['OpenAI-compatible']

/** Asks a model server whose stream is `body`. */
async function askServer(body: string, last: 'done' | 'error') {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  const { until } = await watch(conversationId)
  const { origin } = await serveLoopback((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body)
  })
  await assistant.startWorker({ providersOf: createStubProviders({ ...stub, baseUrl: `${origin}/v1` }) })
  await ask(person, conversationId, 'What is the rent?')
  const parts = await until(last)
  return { parts, answers: await answersIn(person, conversationId) }
}

test('text that turns out to be a thought is withdrawn, live and in the stored answer', async () => {
  const pieces = ['first I weigh [1] ', 'both plans.\n', '</think>\n\nThe answer', ' is 43.']
  const { parts, answers } = await askServer(pieces.map(text).join('') + end(false), 'done')
  expect(answers).toMatchObject([
    {
      content: 'The answer is 43.',
      metadata: { reasoning: expect.stringMatching(/^first I weigh .*both plans\.\n$/) as unknown },
    },
  ])
  const withdrawn = parts.findIndex(({ type }) => type === 'thought')
  expect(parts[withdrawn]).toMatchObject({ text: '' })
  const said = (from: number, to?: number) =>
    parts
      .slice(from, to)
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('')
  expect([said(0, withdrawn), said(withdrawn)]).toEqual([expect.stringContaining('both plans'), 'The answer is 43.'])
})

const FILTERED = event(undefined, { choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }] })

test('an answer that a content filter ends is marked', async () => {
  const { answers } = await askServer(text('The rent') + FILTERED, 'done')
  expect(answers).toMatchObject([{ content: 'The rent', metadata: { filtered: true } }])
})

test('an answer that a content filter swallows is an error', async () => {
  const { answers } = await askServer(FILTERED, 'error')
  expect(answers).toMatchObject([{ content: '', metadata: { error: { code: 'provider_filtered', retryable: false } } }])
})
