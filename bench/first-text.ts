/** Times a question to a stub model that answers at once, until another client of the person sees the first text. */
import { type SignedIn, live } from './signed-in.ts'

export const QUESTION = 'Hello [[stub ttft=0 tps=0 tokens=20]]'

export interface FirstText {
  /** Resolves once the answer is complete with the milliseconds until its first text. */
  ask(): Promise<number>
  startOver(): Promise<void>
}

/** @param session of a server whose operator configured the stub as the model `stub` */
export async function watchFirstText(session: SignedIn): Promise<FirstText> {
  const [asking, watching] = [await session.open(), await session.open()]
  let [conversationId, onText, onDone] = ['', (_at: number): void => undefined, (): void => undefined]
  async function startOver(): Promise<void> {
    await watching.removeAllChannels()
    conversationId = await session.startConversation(asking, 'openai-compatible/stub')
    const channel = watching.channel(`conversation:${conversationId}`, { config: { private: true } })
    channel.on('broadcast', { event: 'reply' }, ({ payload }) => {
      if ((payload as { type: string }).type === 'text') onText(performance.now())
      if ((payload as { type: string }).type === 'done') onDone()
    })
    await live(channel)
  }
  await startOver()
  return {
    startOver,
    async ask() {
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
    },
  }
}
