/** MCP servers that people connect. Tools are listed before a server is stored, and called only with consent. */
import { hkdfSync } from 'node:crypto'
import { z } from 'zod'
import type { newToolServer, ToolServer } from '#contract/tool-server.ts'
import { decrypt, encrypt } from '#server/base/encrypt.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { connectToolServer, type McpTool, type ToolClient } from '#server/providers/mcp-client.ts'
import type { ToolServerAddress } from '#server/providers/mcp-transport.ts'

type Person = Claims & { readonly sub: string }

export interface ConnectedServer {
  readonly id: string
  readonly name: string
  readonly tools: readonly McpTool[]
  /** @throws AppError that says what is wrong, or the reason of an aborted signal. */
  open(signal: AbortSignal): Promise<ToolClient>
}

export interface ToolServerConnections {
  readonly commands: readonly string[]
  list(person: Person): Promise<ToolServer[]>
  /** @throws AppError as `connectToolServer` does; `empty` without tools, `bad_request`, `conflict`. */
  connect(person: Person, given: z.output<typeof newToolServer>, signal: AbortSignal): Promise<ToolServer>
  /** Consent for unchanged tools remains. @throws AppError `not_found`, or as `connect` does; then nothing changes. */
  refresh(person: Person, id: string, signal: AbortSignal): Promise<ToolServer>
  /** @throws AppError `not_found`. */
  disconnect(person: Person, id: string): Promise<void>
  listConnected(owner: string): Promise<ConnectedServer[]>
}

interface ToolServersOptions {
  readonly database: Database
  readonly encryptionKey: Buffer
  readonly guardedFetch: typeof fetch
  /** Command lines by name, split into words. */
  readonly commands: ReadonlyMap<string, readonly string[]>
  readonly log: Log
}

interface StoredServer {
  id: string
  name: string
  url: string | null
  command: string | null
  sealed_token: Buffer | null
  tools: unknown
}

const COLUMNS = 'id, name, url, command, last_four, tools'
const storedTools = z
  .array(z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }))
  .catch([])

/** Consent ends when a tool is removed or changes its description. */
const WITHDRAW_CONSENTS = `
  delete from tool_consents c using tool_servers s
  where s.id = $1 and c.server_id = s.id and not exists (
    select from jsonb_array_elements(s.tools) before join jsonb_array_elements($2) now on now = before
    where before ->> 'name' = c.tool
  )`

const notFound = () => new AppError('not_found', 'There is no such tool server.')

/** Binds the encrypted token to its owner, name and address. */
const encryptionContext = (owner: string, name: string, url: string | null) => JSON.stringify([owner, name, url])

/** Returns at least one tool. */
async function listTools(name: string, address: ToolServerAddress, signal: AbortSignal): Promise<McpTool[]> {
  const client = await connectToolServer(name, address, signal)
  try {
    const tools = await client.listTools(signal)
    if (tools.length === 0) throw new AppError('empty', `${name} offers no tool.`)
    return tools
  } finally {
    await client.close()
  }
}

async function readStored(database: Database, owner: string): Promise<StoredServer[]> {
  const { rows } = await database.serviceStatement<StoredServer & Record<string, unknown>>(
    'select id, name, url, command, sealed_token, tools from tool_servers where owner = $1 order by created_at, id',
    [owner],
  )
  return rows
}

const toToolServer = ({ tools, ...row }: ToolServer & { tools: unknown }): ToolServer => ({
  ...row,
  tools: storedTools.parse(tools).map(({ name, description }) => ({ name, description })),
})

interface NewToolServer {
  readonly name: string
  readonly url: string | null
  readonly command: string | null
  readonly token: string | undefined
  readonly encryptedToken: Buffer | null
}

/** Also replaces an earlier server of the same name. A trigger rejects more than ten. */
async function replaceToolServer(
  scope: Scope,
  { name, url, command, token, encryptedToken }: NewToolServer,
  tools: readonly McpTool[],
): Promise<ToolServer> {
  await scope.query('delete from tool_servers where name = $1', [name])
  const { rows } = await scope.query<ToolServer>(
    `insert into tool_servers (name, url, command, sealed_token, last_four, tools)
     values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
    [name, url, command, encryptedToken, token?.slice(-4), JSON.stringify(tools)],
  )
  const [row] = rows
  if (!row) throw new AppError('unavailable', 'The server could not be stored. Try again.')
  return toToolServer(row)
}

export function createToolServers({
  database,
  encryptionKey,
  guardedFetch,
  commands,
  log,
}: ToolServersOptions): ToolServerConnections {
  const key = Buffer.from(hkdfSync('sha256', encryptionKey, 'alcove', 'tokens of tool servers', 32))

  function resolveAddress({
    url,
    command,
    token,
  }: {
    url: string | null
    command: string | null
    token?: string | undefined
  }): ToolServerAddress {
    if (url !== null) return { url, token, fetch: guardedFetch }
    const [program, ...args] = commands.get(command ?? '') ?? []
    if (program === undefined)
      throw new AppError('bad_request', `The operator of this server offers no command named "${command ?? ''}".`)
    return { command: program, args, log: log.child({ command }) }
  }

  function storedAddress(owner: string, { name, url, command, sealed_token }: StoredServer): ToolServerAddress {
    const token = sealed_token === null ? undefined : decrypt(key, sealed_token, encryptionContext(owner, name, url))
    return resolveAddress({ url, command, token })
  }

  return {
    commands: [...commands.keys()],

    list: (person) =>
      database.asUser(person, async (scope) => {
        const { rows } = await scope.query<ToolServer>(`select ${COLUMNS} from tool_servers order by created_at, id`)
        return rows.map(toToolServer)
      }),

    async connect(person, given, signal) {
      const { name } = given
      const where =
        'url' in given
          ? { url: given.url, command: null, token: given.token }
          : { url: null, command: given.command, token: undefined }
      const tools = await listTools(name, resolveAddress(where), signal)
      const encryptedToken =
        where.token === undefined ? null : encrypt(key, where.token, encryptionContext(person.sub, name, where.url))
      return database.asUser(person, (scope) => replaceToolServer(scope, { name, ...where, encryptedToken }, tools))
    },

    async refresh(person, id, signal) {
      const known = (await readStored(database, person.sub)).find((server) => server.id === id)
      if (!known) throw notFound()
      const tools = JSON.stringify(await listTools(known.name, storedAddress(person.sub, known), signal))
      return database.asService(async (scope) => {
        await scope.query(WITHDRAW_CONSENTS, [id, tools])
        const { rows } = await scope.query<ToolServer>(
          `update tool_servers set tools = $3 where id = $1 and owner = $2 returning ${COLUMNS}`,
          [id, person.sub, tools],
        )
        const [row] = rows
        if (!row) throw notFound()
        return toToolServer(row)
      })
    },

    async disconnect(person, id) {
      const { rowCount } = await database.asUser(person, (scope) =>
        scope.query('delete from tool_servers where id = $1', [id]),
      )
      if (rowCount === 0) throw notFound()
    },

    async listConnected(owner) {
      return (await readStored(database, owner)).map((server) => ({
        id: server.id,
        name: server.name,
        tools: storedTools.parse(server.tools),
        open: async (signal) => connectToolServer(server.name, storedAddress(owner, server), signal),
      }))
    },
  }
}
