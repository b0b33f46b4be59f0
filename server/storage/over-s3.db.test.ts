import { describe } from 'vitest'
import { keepBytesIn } from '#test/storage-service.ts'

keepBytesIn('S3')

// The guarantees do not depend on the blob store, so the same tests run over S3.
describe('objects in an S3 store', async () => {
  await import('./objects.db.test.ts')
})
describe('routes over an S3 store', async () => {
  await import('./routes.db.test.ts')
})
