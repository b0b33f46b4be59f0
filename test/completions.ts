/** A model server without streaming, whose replies the test chooses. */
import { text as readText } from 'node:stream/consumers'
import { z } from 'zod'
import type { ChatModel } from '#server/providers/chat.ts'
import { createProviders } from '#server/providers/provider-registry.ts'
import { serveLoopback } from './loopback.ts'

interface Completion {
  readonly content: string
  /** The reply reached its length limit. */
  readonly isCut?: boolean
}

const completionRequest = z.object({ messages: z.array(z.object({ content: z.string() })).min(1) })
const NOWHERE = { apiKey: undefined, baseUrl: undefined }

/** Listens until the test ends. @param answer by the last message of a request. */
export async function serveCompletions(
  answer: (asked: string) => Completion,
): Promise<{ readonly chat: ChatModel; readonly requests: readonly string[] }> {
  const requests: string[] = []
  const { origin } = await serveLoopback((request, response) => {
    void readText(request).then((body) => {
      const { messages } = completionRequest.parse(JSON.parse(body))
      const asked = messages.at(-1)?.content ?? ''
      requests.push(asked)
      const { content, isCut = false } = answer(asked)
      const message = { role: 'assistant', content }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: isCut ? 'length' : 'stop' }] }))
    })
  })
  const compatible = { apiKey: undefined, baseUrl: `${origin}/v1` }
  const providers = createProviders({ anthropic: NOWHERE, openai: NOWHERE, compatible, idleTimeoutMs: 5_000 })
  return { chat: providers.chatModel('OpenAI-compatible', 'openai-compatible/m'), requests }
}
