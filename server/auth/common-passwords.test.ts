import { expect, test } from 'vitest'
import { isCommonPassword } from './common-passwords.ts'

test.for([
  'password', 'Password1!', 'P@ssw0rd', 'passw0rd2024', '123password', 'password123456', 'iloveyou!', 'lovelove', 'Sunshine2023',
  '12345678', '87654321', '123123123', 'aaaaaaaa', 'qwertyuiop', 'Qwerty123', 'abcd1234', '1q2w3e4r', '1qaz2wsx', 'asdfghjk',
  'zxcvbnm1', 'letmein1', 'changeme', 'Alcove2025', '19850412', '12041985', 'adminadmin', 'trustno1', 'Welcome1', 'qwertz123',
])('%s is refused', (password) => {
  expect(isCommonPassword(password)).toBe(true)
}) // prettier-ignore

test.for([
  'a quiet corner', 'correct horse battery staple', 'lamp-river-42', 'Xk7!pQz2', 'мой дом у реки', 'love8391028374910', '83910283',
  'monkey business as usual', 'passwords are hard', 'ünterwegs im Zug', '😀😃😄😁😆😅😂🤣',
])('%s is not', (password) => {
  expect(isCommonPassword(password)).toBe(false)
}) // prettier-ignore

test('a password with many ways to be read is decided all the same', () => {
  expect(isCommonPassword(`${'abc'.repeat(23)}!x`)).toBe(false)
  expect(isCommonPassword(`${'1'.repeat(71)}z`)).toBe(false)
  expect(isCommonPassword('abc'.repeat(24))).toBe(true)
})
