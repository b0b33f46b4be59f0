import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import { describeSchema } from './describe-schema.ts'

test('schema.sql is the schema that the migrations lead to; `npm run schema` updates it', async () => {
  const { admin } = await temporaryDatabase()
  const client = await admin.connect()
  try {
    expect(await readFile(new URL('schema.sql', import.meta.url), 'utf8')).toBe(await describeSchema(client))
  } finally {
    client.release(true)
  }
})
