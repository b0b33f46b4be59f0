/** Consent to a tool's first call in a conversation, stored in the database so that a restart loses nothing. */
import type { ToolAnswer } from '#contract/tool-server.ts'
import { AppError } from '#server/base/errors.ts'
import type { Claims, Database } from '#server/database/scope.ts'
import type { Listener } from '#server/database/listen.ts'

const CHANNEL = 'tool_requests'
const POLL_INTERVAL_MS = 2_000
const CONSENT_TIMEOUT_S = 300

export interface ConsentRequest {
  readonly reply: {
    readonly id: string
    readonly conversationId: string
    readonly owner: string
    readonly attempt: number
  }
  readonly serverId: string
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export interface ToolConsents {
  /** `expired`: no answer in time. Calls `onAsk` if the person has to be asked. @throws the abort reason. */
  ask(request: ConsentRequest, signal: AbortSignal, onAsk: (id: string) => void): Promise<ToolAnswer | 'expired'>
}

interface Row {
  id: string
  state: 'waiting' | ToolAnswer
  is_over: boolean
}

/** Finds a request of this attempt or an earlier one, or creates one. Consent for one call is valid only once. */
const FIND_OR_CREATE_REQUEST = `
  with known as (
    select id from tool_requests
    where reply_id = $1 and server_id = $2 and tool = $3 and arguments = $4::jsonb
      and (state <> 'once' or used_in is distinct from $7)
    order by used_in nulls first limit 1
  ), asked as (
    insert into tool_requests (reply_id, server_id, tool, arguments, conversation_id, owner, expires_at)
    select $1, $2, $3, $4, $5, $6, now() + make_interval(secs => $8) where not exists (select from known)
    returning id
  )
  select id from known union all select id from asked`

export function createToolConsents(
  database: Database,
  listener: Listener,
  { timeoutS = CONSENT_TIMEOUT_S }: { timeoutS?: number } = {},
): ToolConsents {
  const readRequest = async (id: string): Promise<Row | undefined> => {
    const { rows } = await database.serviceStatement<Row & Record<string, unknown>>(
      'select id, state, expires_at < clock_timestamp() as is_over from tool_requests where id = $1',
      [id],
    )
    return rows[0]
  }

  /** Resolves after a notification or the poll interval. */
  async function waitForAnswer(id: string, signal: AbortSignal): Promise<void> {
    const woken = Promise.withResolvers<undefined>()
    const wake = () => woken.resolve(undefined)
    const stop = await listener.on(CHANNEL, (answered) => {
      if (answered === id) wake()
    })
    const timer = setTimeout(wake, POLL_INTERVAL_MS)
    signal.addEventListener('abort', wake, { once: true })
    await woken.promise
    clearTimeout(timer)
    signal.removeEventListener('abort', wake)
    stop()
    signal.throwIfAborted()
  }

  return {
    async ask({ reply, serverId, tool, arguments: input }, signal, onAsk) {
      const { rowCount } = await database.serviceStatement(
        'select from tool_consents where conversation_id = $1 and server_id = $2 and tool = $3 and owner = $4',
        [reply.conversationId, serverId, tool, reply.owner],
      )
      if (rowCount !== 0) return 'conversation'
      const { rows } = await database.serviceStatement<{ id: string }>(FIND_OR_CREATE_REQUEST, [
        reply.id,
        serverId,
        tool,
        JSON.stringify(input),
        reply.conversationId,
        reply.owner,
        reply.attempt,
        timeoutS,
      ])
      const [{ id } = { id: '' }] = rows
      let isAsked = false
      for (;;) {
        const row = await readRequest(id)
        // The server or the conversation was removed.
        if (!row) return 'denied'
        if (row.state === 'once')
          await database.serviceStatement('update tool_requests set used_in = $2 where id = $1', [id, reply.attempt])
        if (row.state !== 'waiting') return row.state
        if (row.is_over) return 'expired'
        if (!isAsked) onAsk(id)
        isAsked = true
        await waitForAnswer(id, signal)
      }
    },
  }
}

/** Runs as the person, so row security applies. @throws AppError `not_found`, or `conflict` if answered or expired. */
export async function answerToolRequest(
  database: Database,
  person: Claims,
  id: string,
  answer: ToolAnswer,
): Promise<void> {
  await database.asUser(person, async (scope) => {
    const { rows } = await scope.query<{ conversation_id: string; server_id: string; tool: string; is_open: boolean }>(
      `select conversation_id, server_id, tool, state = 'waiting' and expires_at > now() as is_open
       from tool_requests where id = $1`,
      [id],
    )
    const [request] = rows
    if (!request) throw new AppError('not_found', 'There is no such request.')
    const { rowCount } = await scope.query(`update tool_requests set state = $2 where id = $1 and state = 'waiting'`, [
      id,
      answer,
    ])
    if (rowCount === 0 || !request.is_open) throw new AppError('conflict', 'This was answered before, or too late.')
    if (answer === 'conversation')
      await scope.query(
        'insert into tool_consents (conversation_id, server_id, tool) values ($1, $2, $3) on conflict do nothing',
        [request.conversation_id, request.server_id, request.tool],
      )
    await scope.query('select pg_notify($1, $2)', [CHANNEL, id])
  })
}
