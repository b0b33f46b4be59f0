import { afterAll, describe } from 'vitest'
import { hasNats, ringBy, startNatsServer } from '#test/nats.ts'

// What is promised of changes, broadcasts and presence holds whatever rings between the nodes: the very same tests.
if (hasNats) {
  const server = await startNatsServer()
  ringBy(server.url)
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
