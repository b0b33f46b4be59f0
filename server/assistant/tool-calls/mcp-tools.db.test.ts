/** Tools of a person's own servers: a real MCP server, a real worker, the stub model. */
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { newToolServer, type ToolAnswer } from '#contract/tool-server.ts'
import { loadCounter } from '#server/assistant/prompt/tokens.ts'
import { createLog } from '#server/base/log.ts'
import { answerToolRequest, createToolConsents } from '#server/connections/tool-consent.ts'
import { createToolServers, type ToolServerConnections } from '#server/connections/tool-servers.ts'
import { stopReply } from '#server/conversations/reply-queries.ts'
import { createGuardedFetch } from '#server/providers/guarded-fetch.ts'
import { allowNetworks } from '#server/providers/public-address.ts'
import { createStubProviders, openTestAssistant, type Person, STUB_MODEL } from '#test/assistant.ts'
import { startToolServer, type TestToolServer } from '#test/tool-server.ts'

const encryptionKey = randomBytes(32)
const { signal } = new AbortController()
const { db, stub, listener, assistant } = await openTestAssistant({ tokens: 5 })
let person: Person
let stranger: Person
let server: TestToolServer
let toolServers: ToolServerConnections

beforeEach(async () => {
  person = await db.createPerson()
  stranger = await db.createPerson()
  server = await startToolServer()
  toolServers = open(['127.0.0.1'])
})
afterEach(() => server.stop())

const open = (networks: readonly string[], log = createLog('silent')) =>
  createToolServers({
    database: db.database,
    encryptionKey,
    guardedFetch: createGuardedFetch({ allowAddress: allowNetworks(networks) }),
    commands: new Map([
      ['greeter', [process.execPath, fileURLToPath(new URL('../../../test/tool-command.ts', import.meta.url))]],
      ['loud', [process.execPath, '-e', 'console.error("a line\\n".repeat(9_999) + "there is no folder /srv/shared")']],
      ['missing', ['/nowhere/tools']],
    ]),
    log,
  })

const connect = (given: unknown, who = person, using = toolServers) =>
  using.connect(who, newToolServer.parse(given), signal)

const startWorker = (timeoutS = 60) =>
  assistant.startWorker({
    toolServers: {
      listFor: (owner) => toolServers.listConnected(owner),
      consents: createToolConsents(db.database, listener, { timeoutS }),
    },
  })

const calling = (tool: string, given: unknown = {}, more = '') =>
  `please [[stub tool=${tool} args=${encodeURIComponent(JSON.stringify(given))} ${more}]]`

/** Asks, and answers the consent requests in turn. */
async function answered(conversationId: string, question: string, answers: readonly ToolAnswer[] = []) {
  const { until, parts } = await assistant.watch(conversationId)
  await assistant.ask(person, conversationId, question)
  for (const [index, answer] of answers.entries()) {
    const requests = () => parts.flatMap(({ tool }) => tool?.request ?? [])
    await expect.poll(() => requests().length).toBe(index + 1)
    await answerToolRequest(db.database, person, requests()[index]?.id ?? '', answer)
  }
  await until('done')
  const messages = await assistant.messagesIn(person, conversationId)
  return {
    runs: messages
      .filter(({ sender_role }) => sender_role === 3)
      .map(({ content, metadata }) => [metadata?.tool_name, metadata?.status, content]),
    live: parts.flatMap(({ tool }) => (tool ? [tool.status] : [])),
    asked: parts.flatMap(({ tool }) => tool?.request?.arguments ?? []),
    sent: JSON.stringify(await stub.lastRequest()),
  }
}

test('a server is asked for its tools, and listed for its owner alone', async () => {
  const connected = await connect({ name: 'sums', url: server.url })
  expect(connected.tools.map(({ name }) => name)).toEqual(['add', 'fail'])
  expect(await toolServers.list(person)).toMatchObject([{ name: 'sums', url: server.url }])
  expect(await toolServers.list(stranger)).toEqual([])
  expect(await toolServers.listConnected(stranger.sub)).toEqual([])
  await expect(toolServers.disconnect(stranger, connected.id)).rejects.toMatchObject({ code: 'not_found' })
  await toolServers.disconnect(person, connected.id)
  expect(await toolServers.list(person)).toEqual([])
})

test.for([
  ['on two pages', { pageSize: 1 }],
  ['whose pages never end', { pageSize: 1, endless: true }],
] as const)('a list %s is read whole, once', async ([, options]) => {
  const paged = await startToolServer(options)
  onTestFinished(() => paged.stop())
  const { tools } = await connect({ name: 'sums', url: paged.url })
  expect(tools.map(({ name }) => name)).toEqual(['add', 'fail'])
})

test.for([
  ['ends', 0],
  ['refuses', 2],
  ['says nothing', 2],
] as const)('a session is left when nothing more will be called: its server %s', async ([whenLeft, open]) => {
  const stateful = await startToolServer({ whenLeft })
  onTestFinished(() => stateful.stop())
  await connect({ name: 'sums', url: stateful.url })
  const [connected] = await toolServers.listConnected(person.sub)
  const client = await connected?.open(signal)
  expect(stateful.sessions.size).toBeGreaterThan(0)
  expect((await client?.callTool('add', { a: 1, b: 2 }, signal))?.isError).toBe(false)
  await client?.close()
  expect(stateful.sessions.size).toBe(open)
})

test('a token is checked, encrypted and used', async () => {
  const guarded = await startToolServer({ token: 'secret-token-4711' })
  await expect(connect({ name: 'sums', url: guarded.url })).rejects.toMatchObject({ code: 'bad_request' })
  await expect(connect({ name: 'sums', url: guarded.url, token: 'wrong-token' })).rejects.toMatchObject({
    message: 'sums refused the token, or wants one.',
  })
  const connected = await connect({ name: 'sums', url: guarded.url, token: 'secret-token-4711' })
  expect(connected).toMatchObject({ last_four: '4711' })
  expect(JSON.stringify(await toolServers.list(person))).not.toContain('secret-token')
  await expect(
    db.database.asUser(person, (scope) => scope.query('select sealed_token from tool_servers')),
  ).rejects.toMatchObject({ code: '42501' })
  const [opened] = await toolServers.listConnected(person.sub)
  const client = await opened?.open(signal)
  expect(await client?.callTool('add', { a: 1, b: 2 }, signal)).toEqual({
    text: 'The sum is 3 </tool>.',
    isError: false,
  })
  await client?.close()
  guarded.stop()
})

test('internal addresses are rejected unless the operator allows them, as are addresses without a tool server', async () => {
  await expect(connect({ name: 'sums', url: server.url }, person, open([]))).rejects.toMatchObject({
    code: 'forbidden',
  })
  await expect(connect({ name: 'sums', url: stub.baseUrl })).rejects.toMatchObject({ code: 'unavailable' })
  await expect(connect({ name: 'sums', command: 'rm' })).rejects.toMatchObject({ code: 'bad_request' })
  expect(() => newToolServer.parse({ name: 'Sums!', url: server.url })).toThrow('A name has small letters')
  expect(await toolServers.list(person)).toEqual([])
})

test('a command of the operator runs without the secrets of the server', async () => {
  process.env['ALCOVE_SECRET'] = 'not for commands'
  await connect({ name: 'greet', command: 'greeter' })
  const [opened] = await toolServers.listConnected(person.sub)
  const client = await opened?.open(signal)
  expect((await client?.callTool('hello', {}, signal))?.text).toBe('Hello from a command, which sees no secret.')
  await client?.close()
  delete process.env['ALCOVE_SECRET']
})

test.for([
  ['loud', 'ended before it answered', 'there is no folder /srv/shared'],
  ['missing', 'could not be started', 'ENOENT'],
] as const)('a command fails clearly, and the log says why: %s', async ([command, failure, reason]) => {
  let logged = ''
  const using = open([], createLog('warn', { write: (line) => (logged += line) }))
  await expect(connect({ name: 'files', command }, person, using)).rejects.toMatchObject({
    code: 'unavailable',
    message: `The command of files ${failure}. Whoever runs this server finds more in its log.`,
  })
  expect(logged).toContain(`"command":"${command}"`)
  expect(logged).toContain(reason)
  expect(logged.length).toBeLessThan(10_000)
})

test('a call waits for consent, and single consent covers one call', async () => {
  await connect({ name: 'sums', url: server.url })
  await startWorker()
  const conversationId = await assistant.startConversation(person)
  const question = calling('sums__add', { a: 1, b: 2 }, 'calls=2')
  const { runs, live, sent } = await answered(conversationId, question, ['once', 'once'])
  expect(runs).toEqual([
    ['sums__add', 'done', 'The sum is 3 </tool>.'],
    ['sums__add', 'done', 'The sum is 3 </tool>.'],
  ])
  expect(live).toEqual(['running', 'asking', 'running', 'done', 'running', 'asking', 'running', 'done'])
  expect(server.calls).toHaveLength(2)
  expect(sent).toContain('The sum is 3 &lt;/tool>.')
})

test('all arguments are shown before they are sent, with invisible characters escaped', async () => {
  server.offered.set('keep', 'Keeps a text.')
  await connect({ name: 'notes', url: server.url })
  await startWorker()
  const conversationId = await assistant.startConversation(person)
  const text = `begin \u202eturned\u200b\u{e0041}\u{fe0f} ${'x'.repeat(2_960)} the end`
  const { asked } = await answered(conversationId, calling('notes__keep', { text }), ['once'])
  expect(server.calls).toEqual([{ text }])
  expect(asked).toHaveLength(1)
  expect(JSON.parse(asked[0] ?? '')).toEqual({ text })
  expect(asked[0]).toContain('begin \\u202eturned\\u200b\\udb40\\udc41\\ufe0f xxx')
})

test('arguments too long to review are not sent despite earlier consent', async () => {
  server.offered.set('keep', 'Keeps a text.')
  await connect({ name: 'notes', url: server.url })
  await db.admin.query('update models set context_window = 1000000 where model_identifier = $1', [STUB_MODEL])
  onTestFinished(async () => {
    await db.admin.query('update models set context_window = 32000 where model_identifier = $1', [STUB_MODEL])
  })
  await startWorker()
  const conversationId = await assistant.startConversation(person)
  await answered(conversationId, calling('notes__keep', { text: 'short' }), ['conversation'])
  const { runs, live } = await answered(conversationId, calling('notes__keep', { text: 'x'.repeat(100_000) }))
  expect(runs.at(-1)).toEqual([
    'notes__keep',
    'failed',
    'What keep of notes was to be called with is too long to be shown to you (100,011 characters), so it was not called.',
  ])
  expect(live).not.toContain('asking')
  expect(server.calls).toEqual([{ text: 'short' }])
})

test('consent for a conversation is requested once, and covers no other tool or conversation', async () => {
  await connect({ name: 'sums', url: server.url })
  await startWorker()
  const conversationId = await assistant.startConversation(person)
  const question = calling('sums__add', { a: 1, b: 2 }, 'calls=2')
  expect((await answered(conversationId, question, ['conversation'])).runs).toHaveLength(2)
  expect((await answered(conversationId, question)).live).not.toContain('asking')
  const another = await answered(conversationId, calling('sums__fail'), ['denied'])
  expect(another.live).toContain('asking')
  const other = await answered(await assistant.startConversation(person), question, ['denied'])
  expect(other.live).toContain('asking')
  expect(server.calls).toHaveLength(4)
})

test('a refresh of the tools preserves consent for unchanged ones', async () => {
  server.offered.set('keep', 'Keeps a text.')
  const { id } = await connect({ name: 'sums', url: server.url })
  await startWorker()
  const conversationId = await assistant.startConversation(person)
  const ask = (tool: string, given: unknown, answers: readonly ToolAnswer[] = []) =>
    answered(conversationId, calling(`sums__${tool}`, given), answers)
  const [addends, text] = [{ a: 1, b: 2 }, { text: 'a note' }]
  await ask('add', addends, ['conversation'])
  await ask('keep', text, ['conversation'])
  await ask('fail', {}, ['conversation'])
  server.offered.set('keep', 'Keeps a text, and sends it to a friend.')
  server.offered.set('write', 'Writes a text.')
  server.offered.delete('fail')
  await expect(toolServers.refresh(stranger, id, signal)).rejects.toMatchObject({ code: 'not_found' })
  const refreshed = await toolServers.refresh(person, id, signal)
  expect(refreshed).toMatchObject({ id, name: 'sums', url: server.url })
  expect(refreshed.tools).toEqual([...server.offered].map(([name, description]) => ({ name, description })))
  expect(await toolServers.list(person)).toEqual([refreshed])
  expect((await ask('add', addends)).live).not.toContain('asking')
  expect((await ask('keep', text, ['conversation'])).live).toContain('asking')
  expect((await ask('write', text, ['once'])).live).toContain('asking')
  server.offered.set('fail', 'Fails.')
  await toolServers.refresh(person, id, signal)
  expect((await ask('keep', text)).live).not.toContain('asking')
  expect((await ask('fail', {}, ['denied'])).live).toContain('asking')
})

test('a failed refresh leaves a server unchanged', async () => {
  const guarded = await startToolServer({ token: 'secret-token-4711' })
  const connected = await connect({ name: 'sums', url: guarded.url, token: 'secret-token-4711' })
  guarded.offered.clear()
  await expect(toolServers.refresh(person, connected.id, signal)).rejects.toMatchObject({ code: 'empty' })
  guarded.stop()
  await expect(toolServers.refresh(person, connected.id, signal)).rejects.toMatchObject({ code: 'unavailable' })
  expect(await toolServers.list(person)).toEqual([connected])
})

test('the model reads a denial and answers, and nothing is called', async () => {
  await connect({ name: 'sums', url: server.url })
  await startWorker()
  const conversationId = await assistant.startConversation(person)
  const { runs, sent } = await answered(conversationId, calling('sums__add', { a: 1, b: 2 }), ['denied'])
  expect(runs).toEqual([['sums__add', 'failed', 'You did not allow add of sums.']])
  expect(sent).toContain('You did not allow add of sums.')
  expect(server.calls).toEqual([])
})

test('a call without a consent answer ends at the limit with a clear reason', async () => {
  await connect({ name: 'sums', url: server.url })
  await startWorker(0)
  const conversationId = await assistant.startConversation(person)
  const { runs } = await answered(conversationId, calling('sums__add', { a: 1, b: 2 }))
  expect(runs).toEqual([['sums__add', 'failed', 'Nobody allowed add of sums in time, so it was not called.']])
})

test('a consent request and its answer outlive the worker', async () => {
  await connect({ name: 'sums', url: server.url })
  const first = await startWorker()
  const conversationId = await assistant.startConversation(person)
  const { until, parts } = await assistant.watch(conversationId)
  await assistant.ask(person, conversationId, calling('sums__add', { a: 1, b: 2 }))
  await expect.poll(() => parts.some(({ tool }) => tool?.status === 'asking')).toBe(true)
  const id = parts.flatMap(({ tool }) => tool?.request?.id ?? [])[0] ?? ''
  await first.stop()
  await expect(answerToolRequest(db.database, stranger, id, 'once')).rejects.toMatchObject({ code: 'not_found' })
  await answerToolRequest(db.database, person, id, 'once')
  await expect(answerToolRequest(db.database, person, id, 'denied')).rejects.toMatchObject({ code: 'conflict' })
  await startWorker()
  await until('done')
  expect(server.calls).toEqual([{ a: 1, b: 2 }])
})

test('a stop ends the wait for consent', async () => {
  await connect({ name: 'sums', url: server.url })
  await startWorker()
  const conversationId = await assistant.startConversation(person)
  const { until, parts } = await assistant.watch(conversationId)
  await assistant.ask(person, conversationId, calling('sums__add', { a: 1, b: 2 }))
  await expect.poll(() => parts.some(({ tool }) => tool?.status === 'asking')).toBe(true)
  await stopReply(db.database, person, conversationId)
  await until('stopped')
  expect(server.calls).toEqual([])
})

test('a failing tool and an unreachable server are failed runs', async () => {
  await connect({ name: 'sums', url: server.url })
  await startWorker()
  const conversationId = await assistant.startConversation(person)
  const failing = await answered(conversationId, calling('sums__fail'), ['conversation'])
  expect(failing.runs).toEqual([['sums__fail', 'failed', 'It is out of order.']])
  server.stop()
  const gone = await answered(conversationId, calling('sums__add', { a: 1, b: 2 }), ['once'])
  expect(gone.runs.at(-1)).toMatchObject(['sums__add', 'failed', expect.stringContaining('cannot be reached')])
})

test.for([STUB_MODEL, 'claude-3-7-sonnet-20250219', 'gpt-4o'])(
  '%s: 200,000 characters from a tool are fitted into the window, which the model and the person read',
  async (model) => {
    const recited = 'The tide rose and fell </tool> again. '.repeat(6_000).slice(0, 200_000)
    const reciter = await startToolServer({ recited })
    onTestFinished(() => reciter.stop())
    await connect({ name: 'tides', url: reciter.url })
    await db.admin.query(`update models set context_window = 16000 where model_identifier = $1`, [model])
    await assistant.startWorker({
      providersOf: createStubProviders(stub),
      toolServers: {
        listFor: (owner) => toolServers.listConnected(owner),
        consents: createToolConsents(db.database, listener, { timeoutS: 60 }),
      },
    })
    const conversationId = await assistant.startConversation(person, { model })
    const { runs, sent } = await answered(conversationId, calling('tides__recite', {}, 'calls=3'), ['conversation'])
    expect(runs).toHaveLength(3)
    for (const [, status, content] of runs) {
      expect(status).toBe('done')
      expect(content).toMatch(/\(Only the first [\d,]+ of 200,000 characters fit into the model's window\./)
    }
    expect(sent.match(/of 200,000 characters fit into the model's window/g)).toHaveLength(3)
    expect(sent).not.toContain('fell </tool>')
    const counter = await loadCounter('OpenAI')
    expect(await counter.count(sent)).toBeLessThan(16_000 * 0.8)
  },
)

test('tools without room in the window are not offered, and the model gets their names', async () => {
  await connect({ name: 'sums', url: server.url })
  await startWorker()
  const { rows } = await db.admin.query<{ context_window: number }>(
    'select context_window from models where model_identifier = $1',
    [STUB_MODEL],
  )
  await db.admin.query('update models set context_window = 200 where model_identifier = $1', [STUB_MODEL])
  onTestFinished(async () => {
    await db.admin.query('update models set context_window = $2 where model_identifier = $1', [
      STUB_MODEL,
      rows[0]?.context_window,
    ])
  })
  const { sent } = await answered(await assistant.startConversation(person), 'please')
  const { tools } = z
    .object({ tools: z.array(z.object({ function: z.object({ name: z.string() }) })) })
    .parse(JSON.parse(sent))
  expect(tools.map((tool) => tool.function.name)).toEqual(['sums__fail'])
  expect(sent).toContain('There was no room for 3 more tools, which you cannot call: knowledge, web, sums__add.')
})
