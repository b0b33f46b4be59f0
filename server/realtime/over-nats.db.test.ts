import { afterAll, describe } from 'vitest'
import { hasNats, useNats, startNatsServer } from '#test/nats.ts'

// The guarantees do not depend on the transport of notifications, so the same tests run over NATS.
if (hasNats) {
  const server = await startNatsServer()
  useNats(server.url)
  afterAll(() => server.stop())
}
describe.skipIf(!hasNats)('changes over NATS', async () => {
  await import('./changes.db.test.ts')
})
describe.skipIf(!hasNats)('exactness over NATS', async () => {
  await import('./exactness.db.test.ts')
})
describe.skipIf(!hasNats)('broadcasts over NATS', async () => {
  await import('./broadcast.db.test.ts')
})
describe.skipIf(!hasNats)('presence over NATS', async () => {
  await import('./presence.db.test.ts')
})
