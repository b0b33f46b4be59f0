/** Runs the stub model server as a process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface StubModel {
  /** Base address that ends in `/v1`. */
  readonly baseUrl: string
  /** Changes the defaults: `ttft`, `tps`, `tokens`, … */
  configure(settings: Readonly<Record<string, string | number>>): Promise<void>
  /** Body of the last streaming request. */
  lastRequest(): Promise<unknown>
  /** Returns the exact text of a reply of this many tokens. */
  text(tokens: number, content?: 'markdown' | 'maths'): Promise<string>
  /** Resumes what `hold` has paused; waits until something is paused. */
  release(): Promise<void>
  stop(): Promise<void>
}

export async function startStubModel(settings: Readonly<Record<string, string | number>> = {}): Promise<StubModel> {
  const script = fileURLToPath(new URL('./stub-llm.mjs', import.meta.url))
  const args = Object.entries({ port: 0, ttft: 0, tps: 0, tokens: 40, ...settings }).map(
    ([name, value]) => `--${name}=${value}`,
  )
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let origin: string | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    origin = /http:\/\/[^/]+/.exec(line)?.[0]
    break
  }
  if (origin === undefined) throw new Error('the stand-in model server did not start')
  return {
    baseUrl: `${origin}/v1`,
    async configure(changes) {
      const query = new URLSearchParams(
        Object.entries(changes).map(([name, value]): [string, string] => [name, String(value)]),
      )
      const response = await fetch(`${origin}/__stub/config?${query.toString()}`)
      if (!response.ok) throw new Error(`the stand-in model server answered ${response.status}`)
    },
    async text(tokens, content = 'markdown') {
      const response = await fetch(`${origin}/__stub/text?tokens=${tokens}&content=${content}`)
      const { text } = (await response.json()) as { text: string }
      return text
    },
    async release() {
      const response = await fetch(`${origin}/__stub/release`)
      if (!response.ok) throw new Error(`the stand-in model server answered ${response.status}`)
    },
    lastRequest: async () => (await fetch(`${origin}/__stub/last`)).json(),
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}
