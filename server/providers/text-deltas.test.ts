import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { toWebStream } from './http-client.ts'
import { createDeltaReader } from './text-deltas.ts'

const event = (data: unknown, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

const FORMATS = {
  chat: (text: string) => event({ id: 'c', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }),
  responses: (delta: string) =>
    event({ type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta }, 'x'),
  messages: (text: string) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta'),
}
const END = 'data: [DONE]\n\n'

/** Returns the remaining stream and the reported text for the given chunks. */
async function pass(pieces: readonly (string | Uint8Array | Error)[]) {
  const taken = { text: '', reasoning: '' }
  const pauses: string[] = []
  const deltaReader = createDeltaReader({
    onText: (kind, text) => (taken[kind] += text),
    onPause() {
      pauses.push(taken.text)
      return Promise.resolve()
    },
  })
  const decoder = new TextDecoder()
  let left = ''
  let failure: unknown
  try {
    for await (const bytes of toWebStream(Readable.from(bytesOf(pieces)), { deltaReader }))
      left += decoder.decode(bytes, { stream: true })
  } catch (error) {
    failure = error
  }
  return { ...taken, left, failure, pauses }
}

function* bytesOf(pieces: readonly (string | Uint8Array | Error)[]) {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece
    yield typeof piece === 'string' ? Buffer.from(piece) : piece
  }
}

const WORDS = ['The ', 'brücke ', 'of ', '日本 ', '👩‍👩‍👧 ', 'stands.']

test.for(Object.entries(FORMATS))('reads the text of %s, and leaves the end', async ([, format]) => {
  expect(await pass([...WORDS.map(format), END])).toMatchObject({ text: WORDS.join(''), left: END })
})

test('reports text synchronously, before the stream goes on', async () => {
  const taken: string[] = []
  const bytes = new PassThrough()
  const deltaReader = createDeltaReader({ onText: (_, text) => taken.push(text) })
  const reader = toWebStream(bytes, { deltaReader }).getReader()
  const read = reader.read()
  await once(bytes, 'resume')
  bytes.write(FORMATS.chat('first'))
  expect(taken).toEqual(['first'])
  await reader.cancel()
  expect(await read).toEqual({ done: true, value: undefined })
})

test('holds events after a block of text back until the listener resumes, whatever is requested or arrives', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>()
  const taken: string[] = []
  const onPause = () => released.then(() => void taken.push('released'))
  const deltaReader = createDeltaReader({ onText: (_, text) => taken.push(text), onPause })
  const end = event({ type: 'response.output_text.done', output_index: 0, text: 'a' })
  const bytes = new PassThrough()
  const read = text(toWebStream(bytes, { deltaReader })).then((left) => taken.push(left))
  const paused = once(bytes, 'pause')
  bytes.write(FORMATS.chat('a') + end)
  await paused
  bytes.end(FORMATS.chat('b') + END)
  await new Promise(setImmediate)
  expect(taken).toEqual(['a'])
  release(undefined)
  await read
  expect(taken).toEqual(['a', 'released', 'b', end + END])
})

test('a listener whose pause rejects ends the stream', async () => {
  const broken = new Error('the listener broke')
  const deltaReader = createDeltaReader({ onText: () => undefined, onPause: () => Promise.reject(broken) })
  const end = event({ type: 'response.output_text.done', output_index: 0, text: 'a' })
  await expect(text(toWebStream(Readable.from(bytesOf([FORMATS.chat('a'), end])), { deltaReader }))).rejects.toBe(
    broken,
  )
})

test('reads events however their bytes are split', async () => {
  const bytes = new TextEncoder().encode(WORDS.map(FORMATS.chat).join('') + END)
  const passed = await pass(Array.from(bytes, (byte) => Uint8Array.of(byte)))
  expect(passed).toMatchObject({ text: WORDS.join(''), left: END })
})

test('distinguishes reasoning from text', async () => {
  const thought = event({
    choices: [{ index: 0, delta: { role: 'assistant', content: null, reasoning_content: 'hm' } }],
  })
  expect(await pass([thought, FORMATS.chat('a')])).toMatchObject({ reasoning: 'hm', text: 'a', left: '' })
})

test('passes all other events through in order', async () => {
  const call = event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0 }] }, finish_reason: null }] })
  const signed = event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } })
  const last = event({ choices: [{ index: 0, delta: { content: 'd' }, finish_reason: 'stop' }], usage: { total: 1 } })
  const likely = event({ choices: [{ index: 0, delta: { content: 'e' }, logprobs: { content: [1] } }] })
  const untouched = [call, signed, ': a comment\n\n', likely, last, END]
  const { left, text } = await pass(untouched.flatMap((one) => [FORMATS.chat('a'), one]))
  expect(left).toBe(untouched.join(''))
  expect(text).toBe('aaaaaa')
})

test('passes other line endings and unreadable events through unchanged', async () => {
  const foreign = ['data: {"choices"\r\n\r\n', FORMATS.chat('a'), 'data: {not json}\n\n', 'no end']
  expect(await pass(foreign)).toMatchObject({ left: foreign.join(''), text: '' })
  expect((await pass(['data: {not json}\n\n', 'no end'])).left).toBe('data: {not json}\n\nno end')
})

test('an error of a listener ends the stream', async () => {
  const broken = new Error('the listener broke')
  const deltaReader = createDeltaReader({
    onText: () => {
      throw broken
    },
  })
  const bytes = Readable.from(bytesOf([FORMATS.chat('a'), END]))
  await expect(text(toWebStream(bytes, { deltaReader }))).rejects.toBe(broken)
  expect(bytes.destroyed).toBe(true)
})

test('delivers everything before a failure, then the failure', async () => {
  const broken = new Error('the line broke')
  const passed = await pass([FORMATS.chat('a'), FORMATS.chat('b'), FORMATS.chat('c'), broken])
  expect(passed).toMatchObject({ text: 'abc', failure: broken })
})

test.for([
  ['chat', event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })],
  [
    'chat',
    event({ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'tool_calls' }], usage: { total: 1 } }),
  ],
  ['responses', event({ type: 'response.output_text.done', output_index: 0, text: 'a' })],
  ['messages', event({ type: 'content_block_stop', index: 0 }, 'content_block_stop')],
] as const)('says that the text of %s has ended as soon as it is read: %s', async ([format, end]) => {
  const pieces = [FORMATS[format]('a'), FORMATS[format]('b')]
  expect(await pass([...pieces, end, END])).toMatchObject({ text: 'ab', left: end + END, pauses: ['ab'] })
})

test('does not pause for an end that contains text, nor for other events', async () => {
  const last = event({ choices: [{ index: 0, delta: { content: 'd' }, finish_reason: 'stop' }] })
  const other = event({ type: 'content_block_start', index: 1 })
  const quoted = FORMATS.chat('{"type":"content_block_stop","finish_reason":"stop"}')
  expect((await pass([FORMATS.chat('a'), quoted, other, ': a comment\n\n', last, END])).pauses).toEqual([])
})
