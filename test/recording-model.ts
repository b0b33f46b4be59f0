/** A model server that keeps what it is sent, and answers requests that are not streamed as a script says. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

const request = z.object({
  stream: z.boolean().default(false),
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
})
type Messages = z.infer<typeof request>['messages']

export interface RecordingModel {
  /** Base address that ends in `/v1`. */
  readonly baseUrl: string
  /** The messages of the last streamed request as one text, and its size in characters. */
  lastSent(): { readonly text: string; readonly characters: number }
  /** Messages of each request that was not streamed, in order. */
  readonly short: readonly Messages[]
  stop(): Promise<void>
}

export const RECORDING_MODEL = 'openai-compatible/recorder'
const CONTEXT_LENGTH = 128_000

const asText = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content))

/** @param answerShort answers a request that is not streamed, by its last message; undefined: never */
export async function startRecordingModel(
  answerShort: (lastMessage: string) => string | undefined,
): Promise<RecordingModel> {
  let last = { text: '', characters: 0 }
  const short: Messages[] = []
  const server = createServer((incoming, outgoing) => {
    const respond = async () => {
      if (incoming.url?.endsWith('/models')) {
        outgoing.setHeader('content-type', 'application/json')
        const data = [{ id: 'recorder', object: 'model', context_length: CONTEXT_LENGTH }]
        return outgoing.end(JSON.stringify({ object: 'list', data }))
      }
      const body = await text(incoming)
      const { stream, messages } = request.parse(JSON.parse(body))
      if (!stream) {
        short.push(messages)
        const content = answerShort(asText(messages.at(-1)?.content))
        if (content === undefined) return
        outgoing.setHeader('content-type', 'application/json')
        const message = { role: 'assistant', content }
        return outgoing.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }))
      }
      last = { text: messages.map(({ content }) => asText(content)).join('\n'), characters: body.length }
      outgoing.setHeader('content-type', 'text/event-stream')
      const chunk = (delta: unknown, reason: string | null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
      outgoing.end(
        `${chunk({ role: 'assistant', content: 'Recorded [1].' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`,
      )
    }
    respond().catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : new Error(String(error))))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    lastSent: () => last,
    short,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
