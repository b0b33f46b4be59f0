/**
 * From the insert of a question to the first text at another client's socket, against the stub model called directly.
 */
import { startStubModel } from '#test/stub-model.ts'
import { QUESTION, watchFirstText } from './first-text.ts'
import { compared, inTurn } from './measure.ts'
import { startSignedIn } from './signed-in.ts'

export async function run([times = '60']: string[]): Promise<Record<string, unknown>> {
  const stub = await startStubModel({ models: 'stub' })
  const session = await startSignedIn({ OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl })
  const chat = await watchFirstText(session)
  const throughAlcove = () => chat.ask()

  async function directly(): Promise<number> {
    const startedAt = performance.now()
    const response = await fetch(`${stub.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'stub', stream: true, messages: [{ role: 'user', content: QUESTION }] }),
    })
    const reader = response.body?.getReader()
    await reader?.read()
    const elapsed = performance.now() - startedAt
    await reader?.cancel()
    return elapsed
  }
  await inTurn(5, throughAlcove, directly)
  const measured = await inTurn(Number(times), throughAlcove, directly)
  await session.close()
  await stub.stop()
  return compared(measured)
}
