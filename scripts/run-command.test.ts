import { expect, test } from 'vitest'
import { AppError } from '#server/base/errors.ts'
import { describeFailure } from './run-command.ts'

const failure = (code: string, message: string) => Object.assign(new Error(message), { code })

test.each([
  [new AppError('bad_request', 'One sentence.'), 'One sentence.'],
  [failure('EACCES', "lstat '/data'"), "This user may not read or write there: lstat '/data'."],
  [failure('ENOSPC', 'full'), 'The disk is full; make room, then run it again.'],
  [failure('ECONNREFUSED', '5432'), 'A database or store cannot be connected to: 5432.'],
  [
    Object.assign(
      new AggregateError([failure('ECONNREFUSED', '::1:5432'), failure('ECONNREFUSED', '127.0.0.1:5432')]),
      {
        code: 'ECONNREFUSED',
      },
    ),
    'A database or store cannot be connected to: ::1:5432, 127.0.0.1:5432.',
  ],
])('a failure that an operator can mend is told in one sentence: %s', (error, sentence) => {
  expect(describeFailure(error)).toBe(sentence)
})

test('any other failure is shown whole', () => {
  const error = new Error('unexpected')
  expect(describeFailure(error)).toBe(error)
})
