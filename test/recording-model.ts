/** A model server that keeps what it is sent, and answers a request for other words as a script says. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

const request = z.object({
  stream: z.boolean().default(false),
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
})

export interface RecordingModel {
  /** Base address that ends in `/v1`. */
  readonly baseUrl: string
  /** The messages of the last streamed request as one text, and its size in characters. */
  lastSent(): { readonly text: string; readonly characters: number }
  stop(): Promise<void>
}

export const RECORDING_MODEL = 'openai-compatible/recorder'

const asText = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content))

/** @param otherWords searches, one a line, for a request that is not streamed and ends with this question */
export async function startRecordingModel(
  otherWords: (lastMessage: string) => string | undefined,
): Promise<RecordingModel> {
  let last = { text: '', characters: 0 }
  const server = createServer((incoming, outgoing) => {
    const answer = async () => {
      if (incoming.url?.endsWith('/models')) {
        outgoing.setHeader('content-type', 'application/json')
        return outgoing.end(JSON.stringify({ object: 'list', data: [{ id: 'recorder', object: 'model' }] }))
      }
      const body = await text(incoming)
      const { stream, messages } = request.parse(JSON.parse(body))
      if (!stream) {
        const content = otherWords(asText(messages.at(-1)?.content)) ?? 'Recorded'
        outgoing.setHeader('content-type', 'application/json')
        return outgoing.end(
          JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] }),
        )
      }
      last = { text: messages.map(({ content }) => asText(content)).join('\n'), characters: body.length }
      outgoing.setHeader('content-type', 'text/event-stream')
      const chunk = (delta: unknown, reason: string | null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
      outgoing.end(`${chunk({ role: 'assistant', content: 'Recorded.' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
    }
    answer().catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : new Error(String(error))))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    lastSent: () => last,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
