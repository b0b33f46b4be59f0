/** The two transports of MCP servers: streamable HTTP, and a command that the operator configured. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, messageOf } from '#server/base/errors.ts'
import { type Log, MAX_MESSAGE_CHARACTERS } from '#server/base/log.ts'
import { toStorableText } from './storable-text.ts'

export type ToolServerAddress =
  | { readonly url: string; readonly token: string | undefined; readonly fetch: typeof fetch }
  | { readonly command: string; readonly args: readonly string[]; readonly log: Log }

export interface ToolTransport {
  readonly transport: Transport
  /** Never rejects. */
  endSession(): Promise<void>
  /** Returns an error for the person and logs details for the operator. */
  toAppError(error: unknown): AppError
}

const END_SESSION_TIMEOUT_MS = 2_000

const noMcpAnswer = (name: string, error: unknown): AppError => {
  const reason = toStorableText(messageOf(error)).slice(0, 300)
  return new AppError('unavailable', `${name} does not answer as a tool server: ${reason}`, { cause: error })
}

async function openHttp(
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
    async endSession() {
      await Promise.allSettled([
        Promise.race([transport.terminateSession(), delay(END_SESSION_TIMEOUT_MS, undefined, { ref: false })]),
      ])
    },
    toAppError(error) {
      for (let current = error; current instanceof Error; current = current.cause)
        if (current instanceof AppError) return current
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 401 || code === 403 || /\b40[13]\b|unauthorized/i.test(messageOf(error)))
        return new AppError('bad_request', `${name} refused the token, or wants one.`, { cause: error })
      return noMcpAnswer(name, error)
    },
  }
}

/** Error codes of the MCP client itself. */
const CONNECTION_CLOSED = -32_000
const REQUEST_TIMEOUT = -32_001

/** Returns undefined if the command works but rejected the request. */
function failureOf(error: unknown): string | undefined {
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
  let stderrTail = ''
  transport.stderr?.on(
    'data',
    (chunk: Buffer) => (stderrTail = (stderrTail + chunk.toString()).slice(-MAX_MESSAGE_CHARACTERS)),
  )
  return {
    transport,
    endSession: () => Promise.resolve(),
    toAppError(error) {
      const failure = failureOf(error)
      if (failure === undefined) return noMcpAnswer(name, error)
      const output = stderrTail.trim()
      // The log masks mail addresses in errors.
      log.warn({ err: output === '' ? error : new Error(output, { cause: error }) }, `a command for tools ${failure}`)
      const where = 'Whoever runs this server finds more in its log.'
      return new AppError('unavailable', `The command of ${name} ${failure}. ${where}`, { cause: error })
    },
  }
}

export const openToolTransport = (name: string, address: ToolServerAddress): Promise<ToolTransport> =>
  'command' in address ? openCommand(name, address) : openHttp(name, address)
