/** Decides what counts as a fault of the server, and collects the faults with the cases that showed them. */
import { z } from 'zod'

export interface Fault {
  /** `seed/lane/case`, or the part of the run that showed it. */
  readonly shownBy: string
  readonly what: string
}

/** A response body may never contain these: frames of a stack, files of the server, statements of ours. */
const INTERNALS = [/\n\s+at .+:\d+:\d+/, /node_modules\//, /\bfile:\/\/\//, /\bserver\/[\w/-]+\.ts\b/]
const STATEMENT = /\b(select|insert into|update|delete from)\b.+\b(from|values|set|where)\b/i

/** Server errors that the protocols document, by what their body says. */
const DOCUMENTED: readonly (readonly [status: number, body: RegExp])[] = [
  // A statement that runs into its time limit; PostgREST's status for class 57.
  [500, /"code":"57014"/],
  [544, /"DatabaseTimeout"/],
  // A statement that waited for a lock as long as it may.
  [503, /"code":"55P03"|"DatabaseLocked"/],
  // A model, tool server or speech provider that cannot be reached.
  [503, /"code":"unavailable"/],
  [501, /Not Implemented/],
  // Node's own answer to an HTTP version that it does not speak.
  [505, /^/],
]

const FATAL = 60
const ERROR = 50
const logLine = z.object({
  level: z.number(),
  msg: z.string().optional(),
  err: z
    .object({ message: z.string().optional(), code: z.string().optional(), stack: z.string().optional() })
    .loose()
    .optional(),
})
/** SQLSTATEs of a statement that was stopped at its time limit, or at that of its wait for a lock. */
const TIME_LIMITS: readonly (string | undefined)[] = ['57014', '55P03']
const MAX_SHOWN = 700

export interface Judge {
  readonly faults: readonly Fault[]
  note(shownBy: string, what: string): void
  judgeAnswer(shownBy: string, request: string, answer: { status: number | undefined; text: string }): void
  /** Reads complete lines of the server's output. */
  judgeOutput(text: string): void
}

/** @param secrets texts that no response and no log line may contain. */
export function createJudge(secrets: readonly string[]): Judge {
  const faults: Fault[] = []
  const note = (shownBy: string, what: string) => void faults.push({ shownBy, what: what.slice(0, 4 * MAX_SHOWN) })
  const leakIn = (text: string): string | undefined => secrets.find((secret) => text.includes(secret))

  function describeFault(status: number | undefined, text: string): string | undefined {
    const secret = leakIn(text)
    if (secret !== undefined) return `an answer contains the secret ${secret.slice(0, 4)}…`
    const bodyAt = text.indexOf('\r\n\r\n') + 4
    const isError = status !== undefined && status >= 400
    const body = isError ? text.slice(bodyAt) : ''
    if (INTERNALS.some((internal) => internal.test(body))) return 'an error shows the inside of the server'
    if (status === undefined || status < 500) return undefined
    if (STATEMENT.test(body)) return 'a server error shows a statement'
    if (DOCUMENTED.some(([documented, said]) => documented === status && said.test(body))) return undefined
    return `a server error ${status}`
  }

  return {
    faults,
    note,
    judgeAnswer(shownBy, request, { status, text }) {
      const what = describeFault(status, text)
      if (what !== undefined) note(shownBy, `${what}\n${request.slice(0, MAX_SHOWN)}\n→ ${text.slice(0, MAX_SHOWN)}`)
    },
    judgeOutput(output) {
      for (const line of output.split('\n')) {
        if (line === '' || line.includes('is ready at')) continue
        const secret = leakIn(line)
        if (secret !== undefined) note('log', `a line contains the secret ${secret.slice(0, 4)}…`)
        const parsed = line.startsWith('{') ? logLine.safeParse(JSON.parse(line)) : undefined
        if (!parsed?.success) note('log', `an unexpected line: ${line}`)
        else if (parsed.data.level >= FATAL) note('log', `fatal: ${line}`)
        else if (parsed.data.level >= ERROR && !TIME_LIMITS.includes(parsed.data.err?.code))
          note('log', `an error: ${line}`)
      }
    },
  }
}
