import { expect, test } from 'vitest'
import { HttpError } from './client.ts'
import { refusalMessage } from './refusal.ts'

const restFailure = (code: string, message: string): Error => new Error(message, { cause: { code, message } })
const apiFailure = (status: number, message: string): Error =>
  new HttpError(status, JSON.stringify({ error: { code: 'x', message } }))

test.each([
  ['42501', 'new row violates row-level security policy for table "spaces"', /role may have changed/],
  ['42501', 'permission denied for table space_events', /role may have changed/],
  ['42501', 'Only an owner archives a space.', /^Only an owner archives a space\.$/],
  ['PGRST116', 'Cannot coerce the result to a single JSON object', /removed or changed meanwhile/],
  ['PT404', 'There is no such space.', /^There is no such space\.$/],
  ['PT409', 'A space needs an owner.', /^A space needs an owner\.$/],
  ['PT413', 'This space is full.', /^This space is full\.$/],
  ['23505', 'duplicate key value violates unique constraint "spaces_pkey"', /like it already/],
  ['23505', 'Another space already has this id.', /^Another space/],
  ['23503', 'insert or update on table "messages" violates foreign key constraint "x"', /removed or changed meanwhile/],
  ['23514', 'new row for relation "spaces" violates check constraint "x"', /does not accept/],
])('%s: %s is told in plain words', (code, message, expected) => {
  expect(refusalMessage(restFailure(code, message))).toMatch(expected)
})

test.each([
  [403, 'new row violates row-level security policy for table "conversations"', /role may have changed/],
  [403, 'Only owners and editors move a document out of a space.', /^Only owners/],
  [404, 'There is no such conversation.', /^There is no such/],
  [409, 'The same file is there already.', /^The same file/],
  [413, 'This space is full.', /^This space is full/],
])('the product API’s %i: %s is told in plain words', (status, message, expected) => {
  expect(refusalMessage(apiFailure(status, message))).toMatch(expected)
})

test.each([
  new TypeError('Failed to fetch'),
  new HttpError(502, '<html>Bad gateway</html>'),
  apiFailure(500, 'Something went wrong.'),
  restFailure('57014', 'canceling statement due to statement timeout'),
  restFailure('', 'AbortError: The user aborted a request.'),
  'text',
])('a request that only failed is no refusal: %s', (error) => {
  expect(refusalMessage(error)).toBeNull()
})
