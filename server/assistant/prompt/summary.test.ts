import { expect, test } from 'vitest'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { createLog } from '#server/base/log.ts'
import { serveCompletions } from '#test/completions.ts'
import { summarise } from './summary.ts'
import { loadCounter } from './tokens.ts'

async function summariseBy(answer: Parameters<typeof serveCompletions>[0], contents: readonly string[]) {
  const { chat, requests } = await serveCompletions(answer)
  const summary = await summarise({
    previousSummary: '',
    turns: contents.map((content, index) => ({
      id: String(index),
      position: index,
      sender_role: index % 2 === 0 ? SENDER_ROLES.user : SENDER_ROLES.assistant,
      content,
      has_failed: false,
      tool_name: null,
    })),
    chat,
    contextWindow: 4_000,
    counter: await loadCounter('OpenAI-compatible'),
    signal: AbortSignal.timeout(20_000),
    log: createLog('silent'),
  })
  return { summary, requests }
}

test('a turn larger than the window is read to its end, in several requests', async () => {
  const long = `${'The rent is paid on the first of each month. '.repeat(1_200)}The code is 4711.`
  const { summary, requests } = await summariseBy((asked) => ({ content: `So far ${asked.includes('4711')}` }), [long])
  expect(requests.length).toBeGreaterThan(3)
  const read = requests.flatMap((asked) =>
    [...asked.matchAll(/<person>\n([^]*?)\n<\/person>/g)].map(([, said]) => said),
  )
  // A boolean, as a diff of these texts would be too long.
  expect(read.join('') === long).toBe(true)
  expect(summary).toEqual({ content: 'So far true', model: 'openai-compatible/m' })
})

test('a summary that is cut off is requested again for fewer turns at a time', async () => {
  const turns = ['one', 'two', 'three', 'four']
  const { summary, requests } = await summariseBy(
    (asked) => ({ content: 'the beginning of', isCut: (asked.match(/<(?:person|assistant)>/g) ?? []).length > 2 }),
    turns,
  )
  expect(requests).toHaveLength(3)
  expect(requests[2]).toMatch(/^<summary_so_far>\nthe beginning of\n<\/summary_so_far>\n<person>\nthree\n/)
  expect(summary.model).toBe('openai-compatible/m')
})

test('extracted sentences replace a summary where one turn is too long for the model', async () => {
  const { summary } = await summariseBy(
    () => ({ content: 'never ends', isCut: true }),
    ['Where is it? Tell me.', 'There.'],
  )
  expect(summary).toEqual({ content: 'Asked: Where is it?\nAnswered: There.', model: 'alcove-reader' })
})
