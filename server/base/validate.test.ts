import { expect, test } from 'vitest'
import { z } from 'zod'
import { newPersonalProvider } from '#contract/provider.ts'
import { newToolServer } from '#contract/tool-server.ts'
import { validate } from './validate.ts'

test('shows our own sentences alone, and names the field of any other issue', () => {
  const schema = z.object({ title: z.string().max(3, 'This title is too long.'), size: z.int() })
  expect(() => validate(schema, { title: 'long', size: 1 })).toThrow(/^This title is too long\.$/)
  expect(() => validate(schema, { title: 'abc', size: 'x' })).toThrow(/^size: Invalid input/)
})

test.each([
  [newPersonalProvider, { kind: 'openai', apiKey: 'short' }, 'This is too short for a key.'],
  [newPersonalProvider, { kind: 'compatible', name: 'x', baseUrl: 'attic' }, 'The address begins with https:// or http://.'],
  [newToolServer, { name: 'x', url: 'https://x.example', token: 'short' }, 'This is too short for a token.'],
  [newToolServer, { name: 'My tools', url: 'https://x.example' }, 'A name has small letters, digits and hyphens, at most 24.'],
])('shows no field names in messages for forms (%#)', (schema, given, message) => {
  expect(() => validate<z.ZodType>(schema, given)).toThrow(new RegExp(`^${RegExp.escape(message)}$`))
}) // prettier-ignore
