/** The two ways to a server of tools, streamable HTTP and a command of the operator's: how each is left, and how it fails. */
// Not `{ type … }`: without its types that is an empty import, and loads the library at every start.
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, messageOf } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { toStorableText } from './storable-text.ts'

/** How a server is reached. */
export type ToolServerAddress =
  | { readonly url: string; readonly token: string | undefined; readonly fetch: typeof fetch }
  | { readonly command: string; readonly args: readonly string[]; readonly log: Log }

export interface ToolTransport {
  readonly transport: Transport
  /** Tells the server that nothing more will come. Never rejects. */
  leave(): Promise<void>
  /** What went wrong, in a sentence for the person. What is the operator's to know goes to the log. */
  explain(error: unknown): AppError
}

/** Nobody waits longer for a server to hear that its session is over. */
const LEAVE_TIMEOUT_MS = 2_000
/** Of what a command says of itself, the end is kept. */
const MOST_COMPLAINT = 2_000

const noAnswer = (name: string, error: unknown): AppError => {
  const reason = toStorableText(messageOf(error)).slice(0, 300)
  return new AppError('unavailable', `${name} does not answer as a tool server: ${reason}`, { cause: error })
}

async function openAddress(
  name: string,
  { url, token, fetch: send }: Extract<ToolServerAddress, { url: string }>,
): Promise<ToolTransport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: (input, init) => send(input, init),
  })
  return {
    transport,
    async leave() {
      await Promise.allSettled([
        Promise.race([transport.terminateSession(), delay(LEAVE_TIMEOUT_MS, undefined, { ref: false })]),
      ])
    },
    explain(error) {
      for (let current = error; current instanceof Error; current = current.cause)
        if (current instanceof AppError) return current
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 401 || code === 403 || /\b40[13]\b|unauthorized/i.test(messageOf(error)))
        return new AppError('bad_request', `${name} refused the token, or wants one.`, { cause: error })
      return noAnswer(name, error)
    },
  }
}

/** What the protocol's own errors have for a code, where it is not the server that speaks. */
const CONNECTION_CLOSED = -32_000
const REQUEST_TIMEOUT = -32_001

/** What befell a command; undefined where it is well, and refused what it was asked. */
function mishapOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code === 'string') return 'could not be started'
  if (code === REQUEST_TIMEOUT) return 'did not answer in time'
  return code === CONNECTION_CLOSED || code === undefined ? 'ended before it answered' : undefined
}

async function openCommand(
  name: string,
  { command, args, log }: Extract<ToolServerAddress, { command: string }>,
): Promise<ToolTransport> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const transport = new StdioClientTransport({ command, args: [...args], stderr: 'pipe' })
  let complaint = ''
  transport.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-MOST_COMPLAINT)))
  return {
    transport,
    leave: () => Promise.resolve(),
    explain(error) {
      const mishap = mishapOf(error)
      if (mishap === undefined) return noAnswer(name, error)
      const said = complaint.trim()
      // As an error: of these the log masks the mail addresses.
      log.warn({ err: said === '' ? error : new Error(said, { cause: error }) }, `a command for tools ${mishap}`)
      const where = 'Whoever runs this server finds more in its log.'
      return new AppError('unavailable', `The command of ${name} ${mishap}. ${where}`, { cause: error })
    },
  }
}

export const openToolTransport = (name: string, address: ToolServerAddress): Promise<ToolTransport> =>
  'command' in address ? openCommand(name, address) : openAddress(name, address)
