import { expect, test } from 'vitest'
import { z } from 'zod'
import { createLog } from './log.ts'

const logged = z.object({
  err: z.object({ message: z.string(), stack: z.string(), cause: z.object({ message: z.string() }).optional() }),
})

function logError(error: Error) {
  let line = ''
  createLog('error', { write: (text) => (line += text) }).error({ err: error }, 'it failed')
  return { line, ...logged.parse(JSON.parse(line)) }
}

test.each([
  ['550 5.1.1 <ada.lovelace+work@mail.example.com>: not known', '550 5.1.1 <a…@mail.example.com>: not known'],
  ["to 'o'hara@example.com', ada@example.org.", "to 'o…@example.com', a…@example.org."],
  ['mailto:ada@example.com?to=bob%2Bx%40example.com', 'mailto:a…@example.com?to=b…%40example.com'],
  ['zoë@bücher.example is away', 'z…@bücher.example is away'],
])('masks the mail addresses of an error: %s', (message, masked) => {
  expect(logError(new Error(message)).err.message).toBe(masked)
})

test('masks them in the stack and the cause too', () => {
  const cause = new Error('ada@example.com is full')
  const { line, err } = logError(new Error('bob@example.com was not told', { cause }))
  expect(err.stack).toContain('b…@example.com was not told\n')
  expect(err.cause?.message).toBe('a…@example.com is full')
  expect(line).not.toMatch(/ada@|bob@/)
})

test('leaves text alone that only resembles an address', () => {
  const message = 'at node_modules/@hono/node-server/index.js, hono@4.13.1, 12@host, @, %40'
  expect(logError(new Error(message)).err.message).toBe(message)
})

const SECRET = 'a letter to nobody else'

const databaseError = (code: string, message: string) =>
  Object.assign(new Error(message), {
    code,
    severity: 'ERROR',
    routine: 'r',
    table: 'notes',
    detail: SECRET,
    where: SECRET,
  })
const providerError = (name: string, statusCode: number | undefined) =>
  Object.assign(new Error(`the prompt "${SECRET}" is too long`), { name, statusCode, requestBodyValues: SECRET })

test.each([
  ['a value that PostgreSQL rejects', databaseError('22P02', `invalid input syntax for type uuid: "a "${SECRET}" b"`)],
  ['a value that breaks a constraint', databaseError('23514', `value "${SECRET}" is not allowed`)],
  ['an exception of a function', databaseError('P0001', `no note "${SECRET}"`)],
  ['a syntax error', databaseError('42601', `syntax error in tsquery: "${SECRET}"`)],
  ['a prompt that a provider rejects', providerError('AI_APICallError', 400)],
  ['an answer that is not what it should be', providerError('AI_TypeValidationError', undefined)],
  [
    'repeated attempts',
    Object.assign(new Error(SECRET), { name: 'AI_RetryError', lastError: providerError('AI_APICallError', 422) }),
  ],
  ['broken JSON', parseFailure(SECRET)],
  ['a quotation that does not end', new Error(`it isn't readable: "${`${SECRET} `.repeat(40)}`)],
  ['a long quotation', new Error(`cannot read '${`${SECRET} `.repeat(4)}'`)],
])('an error does not repeat %s', (_name, error) => {
  const { line, err } = logError(new Error('it failed', { cause: error }))
  expect(line).not.toContain(SECRET)
  expect(line).not.toContain(SECRET.slice(0, 8))
  expect(err.cause?.message).not.toBe('')
  expect(logError(error).line).not.toContain(SECRET.slice(0, 8))
})

function parseFailure(text: string): Error {
  try {
    JSON.parse(text)
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it was parsed')
}

test('what tells an operator the reason stays: code, table, routine, frames, and refusals of an account', () => {
  const { line } = logError(databaseError('23505', 'duplicate key value violates unique constraint "notes_pkey"'))
  expect(line).toContain('"code":"23505"')
  expect(line).toContain('"table":"notes"')
  expect(line).toMatch(/at .*log\.test\.ts/)
  expect(logError(databaseError('42P01', 'relation "lost" does not exist')).err.message).toContain('"lost"')
  const refused = Object.assign(new Error('the key is not valid'), { name: 'AI_APICallError', statusCode: 401 })
  expect(logError(refused).err.message).toBe('the key is not valid')
})

test('an error of several addresses says why each was refused, without mail addresses', () => {
  const { line } = logError(
    new AggregateError([new Error('::1 refused ada@example.com'), new Error('127.0.0.1 refused')]),
  )
  expect(line).toContain('"message":"::1 refused a…@example.com"')
  expect(line).toContain('"message":"127.0.0.1 refused"')
  expect(line).not.toContain('ada@')
})

test('an error that holds or causes itself is logged to a depth', () => {
  const own = new AggregateError([], 'a circle')
  own.errors.push(own, new Error('the reason'))
  expect(logError(own).line.match(/"message":"a circle"/g)).toHaveLength(3)
  expect(logError(own).line.match(/"message":"the reason"/g)).toHaveLength(2)
  const caused = new Error('a ring')
  caused.cause = caused
  expect(logError(caused).line.match(/"message":"a ring"/g)).toHaveLength(9)
})

test('a line is short, however long the error', () => {
  const long = `${'word '.repeat(200_000)}"`
  expect(logError(new Error(long)).line.length).toBeLessThan(8_000)
  expect(logError(databaseError('22P02', `invalid: "${long}"`)).line.length).toBeLessThan(8_000)
  const many = Array.from({ length: 1_000 }, () => new Error(long))
  expect(logError(new AggregateError(many)).line.length).toBeLessThan(32_000)
})

test('a path names no file of the storage service and no secret of a link, and is short', () => {
  let line = ''
  const log = createLog('info', { write: (text) => (line += text) })
  log.info({ path: `/storage/v1/object/documents/${SECRET}.txt` }, 'request')
  log.info({ path: `/api/links/${SECRET}` }, 'request')
  log.info({ path: `/api/${'x'.repeat(9_000)}` }, 'request')
  expect(line).toContain('/storage/v1/object/…')
  expect(line).toContain('/api/links/…')
  expect(line).not.toContain(SECRET)
  expect(line.length).toBeLessThan(2_000)
})
