/**
 * How replies stream, against a bare server that inserts the row and streams straight back: `npm run bench -- replies
 * [figure …]`. The stand-in's own time is taken out by its clock records, and both sides of a ratio run in turn.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type AlcoveProcess } from '#test/alcove.ts'
import { clockMs, cpuMs, readModelTimes } from './clock.ts'
import { quantile, rounded } from './measure.ts'
import { live } from './signed-in.ts'
import { type Asker, type ReplyStage, startReplyStage } from './reply-stage.ts'

type Figure = Record<string, unknown>
type Follow = Awaited<ReturnType<Asker['follow']>>

/** One reply, seen from outside: when it was asked for, when its first and last text came, and what it said. */
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

/** From the question to the first text, less what the model took. */
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

/** Three long replies of either kind beside one another, and somebody who joins one of ours half-way. */
async function longReplies({ stage, asker, follows }: Audience, tokens = 3_000): Promise<Figure> {
  const prefix = nextSeries()
  const settings = `ttft=0 tps=100 tokens=${tokens}`
  const [first] = follows
  if (!first) throw new Error('nobody follows')
  const running = Promise.all([
    Promise.all(follows.slice(0, 3).map((follow, n) => throughAlcove(asker, follow, `${prefix}a${n}`, settings))),
    Promise.all([0, 1, 2].map((n) => throughBare(stage, `${prefix}b${n}`, settings))),
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

/** What the page does: the private channel, then what has been written so far. */
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

/**
 * Has everything counted that was committed until now: a connection that has fallen idle may keep its count to itself until
 * it is used again or ends, and so these end. Not those that listen or belong to the jobs.
 */
async function countWhatIdles({ admin, database }: ReplyStage): Promise<void> {
  await admin.query(
    `select pg_terminate_backend(pid, 1000) from pg_stat_activity
     where datname = $1 and usename = 'authenticator' and application_name = '' and state = 'idle'
       and state_change < clock_timestamp() - interval '1 second'`,
    [database],
  )
}

/** Resolves once the first part of every reply is in the log; with false where some ended before others began. */
async function allBegin({ admin }: ReplyStage, replies: number): Promise<boolean> {
  for (let left = 100; left > 0; left -= 1) {
    const { rows } = await admin.query<{ begun: number }>(
      'select count(*)::integer as begun from reply_parts where seq = 1',
    )
    if (rows[0]?.begun === replies) return true
    await delay(100)
  }
  return false
}

/** 200 replies that begin within a second, at 50 tokens a second each. */
async function manyAtOnce({ stage, asker, follows }: Audience, tokens = 1_000): Promise<Figure> {
  const prefix = nextSeries()
  const settings = `ttft=0 tps=50 tokens=${tokens}`
  const spread = <T>(ask: (follow: Follow, n: number) => Promise<T>) =>
    Promise.all(follows.map((follow, n) => delay((n * 1000) / follows.length).then(() => ask(follow, n))))
  const commits = async () =>
    (
      await stage.admin.query<{ commits: string }>(
        'select xact_commit as commits from pg_stat_database where datname = $1',
        [stage.database],
      )
    ).rows[0]?.commits
  const oursBefore = await cpuMs(stage.node.pid)
  const begun = spread((follow, n) => throughAlcove(asker, follow, `${prefix}a${n}`, settings))
  // While all are written and none begins or ends: those commits are the text's, not of questions, claims and answers.
  const haveAllBegun = await allBegin(stage, follows.length)
  await delay(6_000)
  await countWhatIdles(stage)
  await delay(1_500)
  const commitsBefore = Number(await commits())
  const windowStart = clockMs()
  await delay(8_000)
  const perSecond = ((Number(await commits()) - commitsBefore) * 1000) / (clockMs() - windowStart)
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
    lastTokenP95Ms: { goal: 200, ms: rounded(quantile(await lags(stage, prefix, ours), 0.95)) },
    cpuPerToken: {
      goal: 3,
      microseconds: rounded((oursCpu * 1000) / seen),
      baselineMicroseconds: rounded((bareCpu * 1000) / seen),
      ratio: rounded(oursCpu / bareCpu),
    },
    commitsPerSecond: { goal: 12, measured: rounded(perSecond), haveAllBegun },
  }
}

/** The stop goes to the node that does not write. */
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

/** Last of all: one node does not survive it. */
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

/** @param args the figures to measure; all where none is named. */
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
