/** From the insert of a question to the first text at another client's socket, against the stand-in model asked directly. */
import { startStubModel } from '#test/stub-model.ts'
import { compared, inTurn } from './measure.ts'
import { live, startSignedIn } from './signed-in.ts'

const QUESTION = 'Hello [[stub ttft=0 tps=0 tokens=20]]'

export async function run([times = '60']: string[]): Promise<Record<string, unknown>> {
  const stub = await startStubModel({ models: 'stub' })
  const session = await startSignedIn({ OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl })
  const [asking, watching] = [await session.open(), await session.open()]
  const conversationId = await session.startConversation(asking, 'openai-compatible/stub')
  let onText = (_at: number): void => undefined
  let onDone = (): void => undefined
  const channel = watching.channel(`conversation:${conversationId}`, { config: { private: true } })
  channel.on('broadcast', { event: 'reply' }, ({ payload }) => {
    if ((payload as { type: string }).type === 'text') onText(performance.now())
    if ((payload as { type: string }).type === 'done') onDone()
  })
  await live(channel)

  async function throughAlcove(): Promise<number> {
    const text = Promise.withResolvers<number>()
    const done = Promise.withResolvers<undefined>()
    onText = text.resolve
    onDone = () => done.resolve(undefined)
    const startedAt = performance.now()
    const { error } = await asking
      .from('messages')
      .insert({ conversation_id: conversationId, content: QUESTION, sender_role: 1 })
    if (error) throw error
    const elapsed = (await text.promise) - startedAt
    await done.promise
    return elapsed
  }
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
