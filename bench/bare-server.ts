import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { clockMs } from './clock.ts'

export interface BareServer {
  readonly pid: number
  /** Asks one question; resolves when the answer has ended. Times of the benchmark's clock. */
  ask(content: string): Promise<{ sentAt: number; firstAt: number; lastAt: number; text: string }>
  stop(): Promise<void>
}

const deltaOf = (line: string): string => {
  if (!line.startsWith('data: {')) return ''
  const { choices } = JSON.parse(line.slice(6)) as { choices?: { delta?: { content?: string } }[] }
  return choices?.[0]?.delta?.content ?? ''
}

export async function startBareServer(connection: pg.ClientConfig, model: string): Promise<BareServer> {
  const script = fileURLToPath(new URL('./bare-server.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, JSON.stringify(connection), model], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let address = ''
  for await (const line of createInterface({ input: child.stdout })) {
    address = line
    break
  }
  return {
    pid: child.pid ?? 0,
    async ask(content) {
      const times = { sentAt: clockMs(), firstAt: 0, lastAt: 0, text: '' }
      const response = await fetch(address, { method: 'POST', body: JSON.stringify({ content }) })
      const decoder = new TextDecoder()
      let rest = ''
      for await (const chunk of response.body ?? []) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        const text = lines.map(deltaOf).join('')
        if (text === '') continue
        times.lastAt = clockMs()
        times.firstAt ||= times.lastAt
        times.text += text
      }
      return times
    },
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}
