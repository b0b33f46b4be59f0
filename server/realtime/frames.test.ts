import { expect, test } from 'vitest'
import { broadcastPayload, decodeFrame, encodeBroadcast, encodeFrame } from './frames.ts'

const push = (fields: readonly string[], encoding: number, body: string) =>
  Buffer.concat([
    Buffer.from([3, ...fields.map((field) => Buffer.byteLength(field)), encoding]),
    ...fields.map((field) => Buffer.from(field)),
    Buffer.from(body),
  ])

test('reads an object of 1.0.0 without a join_ref', () => {
  const frame = JSON.stringify({ topic: 'phoenix', event: 'heartbeat', payload: {}, ref: 7 })
  expect(decodeFrame('1.0.0', Buffer.from(frame), false)).toEqual({
    topic: 'phoenix',
    event: 'heartbeat',
    payload: {},
    ref: '7',
    joinRef: null,
  })
})

test('reads an array of 2.0.0', () => {
  const frame = JSON.stringify(['1', '2', 'realtime:room', 'phx_join', { config: {} }])
  expect(decodeFrame('2.0.0', Buffer.from(frame), false)).toEqual({
    joinRef: '1',
    ref: '2',
    topic: 'realtime:room',
    event: 'phx_join',
    payload: { config: {} },
  })
})

test('reads a binary JSON broadcast whose names hold more bytes than characters', () => {
  const frame = push(['1', '2', 'realtime:café', 'grüße', '{"persist":true}'], 1, '{"a":1}')
  expect(decodeFrame('2.0.0', frame, true)).toEqual({
    joinRef: '1',
    ref: '2',
    topic: 'realtime:café',
    event: 'broadcast',
    payload: { persist: true, type: 'broadcast', event: 'grüße', payload: { a: 1 } },
  })
})

test('keeps the bytes of a raw broadcast', () => {
  const decoded = decodeFrame('2.0.0', push(['', '', 'realtime:room', 'e', ''], 0, '\u0001\u0002'), true)
  expect(decoded.bytes).toEqual(Buffer.from([1, 2]))
  expect(decoded.joinRef).toBeNull()
})

test.each([
  ['another kind', Buffer.from([4, 0, 0, 0, 0, 0, 0])],
  ['a cut header', Buffer.from([3, 1])],
  ['a name that ends after the frame', Buffer.from([3, 1, 1, 200, 0, 0, 1, 65])],
])('rejects %s', (_, frame) => {
  expect(() => decodeFrame('2.0.0', frame, true)).toThrow()
})

test('writes frames that realtime-js reads', () => {
  const message = {
    joinRef: '1',
    ref: '2',
    topic: 'realtime:"x"',
    event: 'phx_reply',
    payload: '{"n":12345678901234567890}',
  }
  expect(encodeFrame('2.0.0', message)).toBe('["1","2","realtime:\\"x\\"","phx_reply",{"n":12345678901234567890}]')
  expect(JSON.parse(encodeFrame('1.0.0', { topic: 't', event: 'e', payload: '{}' }))).toEqual({
    topic: 't',
    event: 'e',
    payload: {},
    ref: null,
    join_ref: null,
  })
  const binary = encodeBroadcast('realtime:é', 'e', '{"id":"1"}', { json: '{}' })
  expect(binary).toEqual(Buffer.concat([Buffer.from([4, 11, 1, 10, 1]), Buffer.from('realtime:ée{"id":"1"}{}')]))
})

test('falls back to text if a name does not fit a binary frame', () => {
  const event = 'x'.repeat(300)
  const frame = encodeBroadcast('realtime:room', event, '', { json: '1' })
  expect(frame).toBe(`[null,null,"realtime:room","broadcast",${broadcastPayload(event, '', '1')}]`)
})

test('rejects a frame that is nested too deeply to be serialised again, in every form', () => {
  const deep = `${'['.repeat(600)}${']'.repeat(600)}`
  const frames: ['1.0.0' | '2.0.0', Buffer, boolean][] = [
    ['1.0.0', Buffer.from(`{"topic":"t","event":"e","payload":${deep},"ref":"1"}`), false],
    ['2.0.0', Buffer.from(`["1","2","t","e",${deep}]`), false],
    ['2.0.0', push(['1', '2', 't', 'e', ''], 1, deep), true],
  ]
  for (const [vsn, frame, isBinary] of frames) expect(() => decodeFrame(vsn, frame, isBinary)).toThrow('too deeply')
})

test('rejects a number that PostgreSQL would write out as a hundred thousand digits, in every form', () => {
  const frames: ['1.0.0' | '2.0.0', Buffer, boolean][] = [
    ['1.0.0', Buffer.from('{"topic":"t","event":"e","payload":{"a":1e131071},"ref":"1"}'), false],
    ['2.0.0', Buffer.from('["1","2","t","e",{"a":1e-16383}]'), false],
    ['2.0.0', push(['1', '2', 't', 'e', ''], 1, '[1e131071]'), true],
  ]
  for (const [vsn, frame, isBinary] of frames) expect(() => decodeFrame(vsn, frame, isBinary)).toThrow('exponent')
})
