/**
 * Reply streaming against a bare server that inserts the row and streams straight back: `npm run bench -- replies
 * [figure …]`. Clock records of the stub subtract its own time; both sides of a ratio alternate.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { AlcoveProcess } from '#test/alcove.ts'
import { clockMs, cpuMs, readModelTimes } from './clock.ts'
import { quantile, rounded } from './measure.ts'
import { live } from './signed-in.ts'
import { type Asker, type ReplyStage, startReplyStage } from './reply-stage.ts'

type Figure = Record<string, unknown>
type Follow = Awaited<ReturnType<Asker['follow']>>

interface Seen {
  readonly tag: string
  readonly sentAt: number
  readonly firstAt: number
  readonly lastAt: number
  readonly text: string
}

const question = (tag: string, settings: string) => `Hello [[stub ${settings} tag=${tag}]]`
let series = 0
const nextSeries = () => `s${(series += 1)}-`

/** From the question to the first text, less the model's time. */
async function overheads({ stub }: ReplyStage, prefix: string, seen: readonly Seen[]): Promise<number[]> {
  const times = await readModelTimes(stub.baseUrl, prefix)
  return seen.map(({ tag, sentAt, firstAt }) => {
    const { arrive = Number.NaN, first = Number.NaN } = times.get(tag) ?? {}
    return arrive - sentAt + (firstAt - first)
  })
}

async function lags({ stub }: ReplyStage, prefix: string, seen: readonly Seen[]): Promise<number[]> {
  const times = await readModelTimes(stub.baseUrl, prefix)
  return seen.map(({ tag, lastAt }) => lastAt - (times.get(tag)?.last ?? Number.NaN))
}

async function throughAlcove(asker: Asker, follow: Follow, tag: string, settings: string): Promise<Seen> {
  const watched = follow.again()
  const sentAt = await asker.ask(follow.conversationId, question(tag, settings))
  await watched.ended
  return { tag, sentAt, firstAt: watched.firstAt, lastAt: watched.lastAt, text: watched.text }
}

async function throughBare({ bare }: ReplyStage, tag: string, settings: string): Promise<Seen> {
  return { tag, ...(await bare.ask(question(tag, settings))) }
}

const SHORT = 'ttft=0 tps=0 tokens=20'

const compare = (ours: readonly number[], baseline: readonly number[], share = 0.5) => ({
  ms: rounded(quantile(ours, share)),
  baselineMs: rounded(quantile(baseline, share)),
  ratio: rounded(quantile(ours, share) / quantile(baseline, share)),
})

interface Audience {
  readonly stage: ReplyStage
  readonly asker: Asker
  readonly follows: readonly Follow[]
}

async function firstText({ stage, asker, follows: [follow] }: Audience, times = 40): Promise<Figure> {
  if (!follow) throw new Error('nobody follows')
  const prefix = nextSeries()
  const [ours, baseline]: [Seen[], Seen[]] = [[], []]
  for (let run = 0; run < times + 5; run += 1) {
    ours.push(await throughAlcove(asker, follow, `${prefix}a${run}`, SHORT))
    baseline.push(await throughBare(stage, `${prefix}b${run}`, SHORT))
  }
  return {
    goal: 2.5,
    ...compare(await overheads(stage, prefix, ours.slice(5)), await overheads(stage, prefix, baseline.slice(5))),
  }
}

async function twentyAtOnce({ stage, asker, follows }: Audience, rounds = 6): Promise<Figure> {
  const prefix = nextSeries()
  const [ours, baseline]: [Seen[], Seen[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    const some = follows.slice(0, 20)
    ours.push(
      ...(await Promise.all(some.map((follow, n) => throughAlcove(asker, follow, `${prefix}a${round}-${n}`, SHORT)))),
    )
    baseline.push(...(await Promise.all(some.map((_, n) => throughBare(stage, `${prefix}b${round}-${n}`, SHORT)))))
  }
  return {
    goal: 3,
    ...compare(await overheads(stage, prefix, ours.slice(20)), await overheads(stage, prefix, baseline.slice(20))),
  }
}

/**
 * Alternates long replies of both kinds, which end at different times; another viewer joins one of Alcove's half-way.
 */
async function longReplies({ stage, asker, follows }: Audience, tokens = 3_000): Promise<Figure> {
  const prefix = nextSeries()
  const settings = `ttft=0 tps=100 tokens=${tokens}`
  const [first] = follows
  if (!first) throw new Error('nobody follows')
  const inTurn = (n: number, ask: () => Promise<Seen>) => delay(n * 300).then(ask)
  const some = follows.slice(0, 7)
  const running = Promise.all([
    Promise.all(some.map((follow, n) => inTurn(n, () => throughAlcove(asker, follow, `${prefix}a${n}`, settings)))),
    Promise.all(some.map((_, n) => inTurn(n + 0.5, () => throughBare(stage, `${prefix}b${n}`, settings)))),
  ])
  await delay(tokens * 5)
  const joined = await joinLate({ stage, asker, follows }, first)
  const [ours, baseline] = await running
  const wanted = await stage.stub.text(tokens)
  return {
    lastToken: { goal: 5, ...compare(await lags(stage, prefix, ours), await lags(stage, prefix, baseline)) },
    allEqual: [...ours, ...baseline].every(({ text }) => text === wanted),
    lateJoiner: { goalMs: 150, ms: rounded(joined.ms), hadEverything: joined.hadEverything },
  }
}

/** Joins as the page does: the private channel, then the text up to now. */
async function joinLate({ stage, asker }: Audience, { conversationId }: Follow) {
  const viewer = await stage.open(asker, stage.node)
  const startedAt = clockMs()
  const channel = viewer.channel(`conversation:${conversationId}`, { config: { private: true } })
  await live(channel)
  const response = await fetch(`${stage.node.url}/api/conversations/${conversationId}/reply`, {
    headers: { authorization: `Bearer ${asker.token}` },
  })
  const { parts } = (await response.json()) as { parts: { text?: string }[] }
  const ms = clockMs() - startedAt
  const text = parts.map((part) => part.text ?? '').join('')
  const rows = await stage.admin.query<{ text: string }>(
    `select string_agg(payload ->> 'text', '' order by seq) as text from reply_parts join replies r on r.id = reply_id and r.attempt = reply_parts.attempt
     where conversation_id = $1`,
    [conversationId],
  )
  await viewer.removeAllChannels()
  return { ms, hadEverything: text !== '' && (rows.rows[0]?.text ?? '').startsWith(text) }
}

/** Whether the log has the first part of every reply; it loses nothing before a reply ends. */
async function areAllWritten({ admin }: ReplyStage, replies: number): Promise<boolean> {
  const { rows } = await admin.query<{ begun: number }>(
    'select count(*)::integer as begun from reply_parts where seq = 1',
  )
  return rows[0]?.begun === replies
}

/** Resolves once all have begun; with false if some ended before others began. */
async function allBegin(stage: ReplyStage, replies: number): Promise<boolean> {
  for (let left = 100; left > 0; left -= 1) {
    if (await areAllWritten(stage, replies)) return true
    await delay(100)
  }
  return false
}

/** Transactions that have written text, each with one statement, and all writing transactions. */
async function writesUntilNow({ statistics }: ReplyStage) {
  const { rows } = await statistics.query<{ text: number; all: number }>(
    `select coalesce(sum(calls), 0)::integer as text, pg_snapshot_xmax(pg_current_snapshot())::text::bigint::integer as all
     from pg_stat_statements where query ilike $1`,
    ['%insert into reply_parts%'],
  )
  const { text = Number.NaN, all = Number.NaN } = rows[0] ?? {}
  return { at: clockMs(), text, all }
}

/** Measures while all replies run and none begins or ends, so that only text is committed. */
async function commitsWhileAllRun(stage: ReplyStage, replies: number, windowMs: number): Promise<Figure> {
  const haveAllBegun = await allBegin(stage, replies)
  const before = await writesUntilNow(stage)
  await delay(windowMs)
  const after = await writesUntilNow(stage)
  const hasNoneEnded = await areAllWritten(stage, replies)
  const perSecond = (count: 'text' | 'all') => rounded(((after[count] - before[count]) * 1000) / (after.at - before.at))
  return { goal: 12, measured: perSecond('text'), withAllElse: perSecond('all'), haveAllBegun, hasNoneEnded }
}

const TOKENS_PER_S = 50

/** 200 replies that begin within a second: short ones on newly started servers, then long ones. */
async function manyAtOnce({ stage, asker, follows }: Audience, tokens = 1_000): Promise<Figure> {
  const spread = <T>(ask: (follow: Follow, n: number) => Promise<T>) =>
    Promise.all(follows.map((follow, n) => delay((n * 1000) / follows.length).then(() => ask(follow, n))))
  const coldPrefix = nextSeries()
  const coldOurs = await spread((follow, n) => throughAlcove(asker, follow, `${coldPrefix}a${n}`, SHORT))
  const coldBaseline = await spread((_, n) => throughBare(stage, `${coldPrefix}b${n}`, SHORT))
  const prefix = nextSeries()
  const settings = `ttft=0 tps=${TOKENS_PER_S} tokens=${tokens}`
  const oursBefore = await cpuMs(stage.node.pid)
  const begun = spread((follow, n) => throughAlcove(asker, follow, `${prefix}a${n}`, settings))
  const commitsPerSecond = await commitsWhileAllRun(stage, follows.length, (tokens * 500) / TOKENS_PER_S)
  const ours = await begun
  const oursCpu = (await cpuMs(stage.node.pid)) - oursBefore
  const bareBefore = await cpuMs(stage.bare.pid)
  const baseline = await spread((_, n) => throughBare(stage, `${prefix}b${n}`, settings))
  const bareCpu = (await cpuMs(stage.bare.pid)) - bareBefore
  const wanted = await stage.stub.text(tokens)
  const seen = ours.length * tokens
  const { rows: stored } = await stage.admin.query<{ equal: number; begun: number }>(
    `select count(*) filter (where m.content = $1)::integer as equal, max(r.attempt) as begun
     from replies r left join messages m on m.id = r.answer_id
     where r.message_id in (select id from messages where content like '%tag=' || $2 || '%')`,
    [wanted, `${prefix}a`],
  )
  return {
    replies: ours.length,
    storedEqual: stored[0]?.equal,
    mostAttempts: stored[0]?.begun,
    allEqual: ours.every(({ text }) => text === wanted),
    firstTextP95: {
      goal: 3,
      ...compare(await overheads(stage, prefix, ours), await overheads(stage, prefix, baseline), 0.95),
    },
    firstTextP95AfterStart: compare(
      await overheads(stage, coldPrefix, coldOurs),
      await overheads(stage, coldPrefix, coldBaseline),
      0.95,
    ),
    lastTokenP95Ms: { goal: 200, ms: rounded(quantile(await lags(stage, prefix, ours), 0.95)) },
    cpuPerToken: {
      goal: 3,
      microseconds: rounded((oursCpu * 1000) / seen),
      baselineMicroseconds: rounded((bareCpu * 1000) / seen),
      ratio: rounded(oursCpu / bareCpu),
    },
    commitsPerSecond,
  }
}

/** The stop request goes to the node that does not write. */
async function stopElsewhere({ stage, asker, follows }: Audience, times = 5): Promise<Figure> {
  const prefix = nextSeries()
  const nodes = [stage.node, await stage.second()] as const
  const [shown, closed]: [number[], number[]] = [[], []]
  for (let run = 0; run < times; run += 1) {
    const follow = follows[run]
    if (!follow) break
    const watched = follow.again()
    await asker.ask(follow.conversationId, question(`${prefix}${run}`, 'ttft=0 tps=100 tokens=3000'))
    await delay(700)
    const writing = await writerOf(stage, nodes, follow.conversationId)
    const other = writing === nodes[0] ? nodes[1] : nodes[0]
    const askedAt = clockMs()
    await fetch(`${other.url}/api/conversations/${follow.conversationId}/stop`, {
      method: 'POST',
      headers: { authorization: `Bearer ${asker.token}` },
    })
    await watched.ended
    await delay(500)
    shown.push(watched.lastAt - askedAt)
    closed.push(
      ((await readModelTimes(stage.stub.baseUrl, `${prefix}${run}`)).get(`${prefix}${run}`)?.aborted ?? Number.NaN) -
        askedAt,
    )
  }
  return {
    goalMs: 300,
    lastTextAfterMs: rounded(Math.max(...shown)),
    connectionClosedAfterMs: rounded(Math.max(...closed)),
  }
}

async function writerOf({ admin }: ReplyStage, nodes: readonly AlcoveProcess[], conversationId: string) {
  const { rows } = await admin.query<{ worker: string | null }>(
    `select worker from replies where conversation_id = $1 and state = 'running'`,
    [conversationId],
  )
  return nodes.find(({ pid }) => rows[0]?.worker?.startsWith(`${pid}@`) === true)
}

/** Runs last: one node does not survive it. */
async function killTheWriter({ stage }: Audience): Promise<Figure> {
  const nodes = [stage.node, await stage.second()] as const
  const asker = await stage.signUp(nodes[0])
  const one = await asker.follow(asker.client)
  await asker.ask(one.conversationId, question('kill', 'ttft=0 tps=50 tokens=300'))
  await delay(1_000)
  const writing = (await writerOf(stage, nodes, one.conversationId)) ?? nodes[0]
  const killedAt = clockMs()
  await writing.end('SIGKILL')
  let againAfter = Number.NaN
  for (let left = 300; left > 0 && Number.isNaN(againAfter); left -= 1) {
    const { rowCount } = await stage.admin.query(
      `select from reply_parts p join replies r on r.id = p.reply_id and r.attempt = p.attempt
       where r.conversation_id = $1 and r.attempt > 1 and p.payload ->> 'type' = 'text' limit 1`,
      [one.conversationId],
    )
    if (rowCount) againAfter = clockMs() - killedAt
    else await delay(50)
  }
  let answers = 0
  for (let left = 300; left > 0 && answers === 0; left -= 1) {
    await delay(50)
    answers =
      (
        await stage.admin.query('select from messages where conversation_id = $1 and sender_role = 2', [
          one.conversationId,
        ])
      ).rowCount ?? 0
  }
  return { goalS: 10, writingAgainAfterS: rounded(againAfter / 1000), finalMessages: answers }
}

const FIGURES: Record<string, (audience: Audience) => Promise<Figure>> = {
  'first-text': (audience) => firstText(audience),
  'twenty-at-once': (audience) => twentyAtOnce(audience),
  long: (audience) => longReplies(audience),
  many: (audience) => manyAtOnce(audience),
  stop: (audience) => stopElsewhere(audience),
  kill: (audience) => killTheWriter(audience),
}
const MANY = 200
const CHANNELS_PER_SOCKET = 50

export async function run(args: string[]): Promise<Record<string, unknown>> {
  const chosen = args.length > 0 ? args : Object.keys(FIGURES)
  const stage = await startReplyStage()
  try {
    return await measure(stage, chosen)
  } finally {
    await stage.close()
  }
}

async function measure(stage: ReplyStage, chosen: readonly string[]): Promise<Figure> {
  const asker = await stage.signUp(stage.node)
  const follows: Follow[] = []
  const wanted = chosen.includes('many') ? MANY : 20
  for (let from = 0; from < wanted; from += CHANNELS_PER_SOCKET) {
    const viewer = await stage.open(asker, stage.node)
    for (let n = from; n < Math.min(wanted, from + CHANNELS_PER_SOCKET); n += 1)
      follows.push(await asker.follow(viewer))
  }
  const measured: Record<string, unknown> = {}
  for (const name of chosen) {
    const figure = FIGURES[name]
    if (!figure) throw new Error(`There is no figure ${name}: ${Object.keys(FIGURES).join(', ')}.`)
    measured[name] = await figure({ stage, asker, follows })
    console.error(name, JSON.stringify(measured[name]))
  }
  return measured
}
