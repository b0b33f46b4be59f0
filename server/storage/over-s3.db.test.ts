import { describe } from 'vitest'
import { keepBytesIn } from '#test/storage-service.ts'

keepBytesIn('S3')

// What is promised of objects holds whatever keeps their bytes: the very same tests, over another store.
describe('objects in an S3 store', async () => {
  await import('./objects.db.test.ts')
})
describe('routes over an S3 store', async () => {
  await import('./routes.db.test.ts')
})
