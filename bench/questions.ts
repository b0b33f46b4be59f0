/**
 * Answers to questions as people put them: `npm run bench -- questions <folder> [kind …]`. All files of the folder's
 * `documents/` are in one library; `questions.json` is asked in order, once of the Reader and once of a model that keeps
 * what it is sent. That model answers a request for other words from `rewrites.json`, unless REWRITES=off. With LIBRARY,
 * a data folder that stays, a second run reads no file again.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { messageRow } from '#contract/message.ts'
import { READER_MODEL } from '#contract/product-names.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isPassageSource } from '#contract/source.ts'
import { searchPassages } from '#server/search/search.ts'
import { RECORDING_MODEL, type RecordingModel, startRecordingModel } from '#test/recording-model.ts'
import { openLibrary } from './library.ts'
import { median, rounded } from './measure.ts'
import {
  alternatives,
  type GivenAnswer,
  holdsOneOf,
  isGiven,
  isRefusal,
  isRight,
  type Passage,
  QUESTION_KINDS,
  type Question,
  questionSet,
} from './question-set.ts'
import { type Client, live, type SignedIn, startSignedIn } from './signed-in.ts'
import { watchLibrary } from './watched-library.ts'

const PER_REQUEST = 10
const CANDIDATES = 200
const CHARACTERS_PER_TOKEN = 4
const NEITHER_GIVEN_NOR_QUOTED = ['negative', 'library'] as const

const LOSSES = ['not read', 'not a candidate', 'not handed over', 'not quoted', 'refused', 'not refused'] as const
type Loss = (typeof LOSSES)[number]

interface Asked {
  readonly question: Question
  readonly answer: GivenAnswer
  /** Text that was searched for: a follow-up is searched together with the question before it. */
  readonly query: string
  /** Passages that the Reader chose its quotations from. */
  readonly handedOver: readonly Passage[]
}

interface Recorded {
  readonly question: Question
  readonly isGiven: boolean
  readonly tokens: number
  readonly query: string
  /** Whether the model was asked for other words. */
  readonly isReworded: boolean
}

async function uploadAll(session: SignedIn, client: Client, folder: string): Promise<void> {
  const { count } = await client.from('documents').select('id', { count: 'exact', head: true }).throwOnError()
  if (count !== null && count > 0) return
  const library = await watchLibrary(session, client)
  const names = (await readdir(folder)).filter((name) => name !== 'manifest.json').toSorted()
  const ids: string[] = []
  for (let from = 0; from < names.length; from += PER_REQUEST) {
    const files = await Promise.all(
      names
        .slice(from, from + PER_REQUEST)
        .map(async (name) => ({ name, bytes: new Uint8Array(await readFile(path.join(folder, name))) })),
    )
    const { documents, rejected } = await library.upload(files)
    for (const { name, message } of rejected) console.error(`${name} was refused: ${message}`)
    ids.push(...documents.map(({ id }) => id))
  }
  await Promise.all(ids.map((id) => library.ended(id)))
}

/** Asks in order; a follow-up goes into the conversation of the question before it. */
async function* askAll(session: SignedIn, client: Client, model: string, questions: readonly Question[]) {
  const conversations = new Map<string, string>()
  const answers = new Map<string, (row: z.infer<typeof messageRow>) => void>()
  const channel = client.channel(`answers of ${model}`)
  channel.on('postgres_changes', { event: 'INSERT', schema: 'public', table: 'messages' }, ({ new: inserted }) => {
    const row = messageRow.parse(inserted)
    if (row.sender_role === SENDER_ROLES.assistant) answers.get(row.conversation_id)?.(row)
  })
  await live(channel, { hasChanges: true })
  for (const question of questions) {
    const known = question.followsUp === null ? undefined : conversations.get(question.followsUp)
    const conversationId = known ?? (await session.startConversation(client, model))
    conversations.set(question.id, conversationId)
    const { promise, resolve } = Promise.withResolvers<z.infer<typeof messageRow>>()
    answers.set(conversationId, resolve)
    await client
      .from('messages')
      .insert({ conversation_id: conversationId, content: question.question, sender_role: SENDER_ROLES.user })
      .throwOnError()
    yield { question, row: await promise }
  }
  await client.removeChannel(channel)
}

/** Text of all pages, by name of the file. */
async function readPages(client: Client): Promise<Map<string, Map<number, string>>> {
  const { data: documents } = await client.from('documents').select('id, filename').throwOnError()
  const files = new Map<string, Map<number, string>>()
  const pageRow = z.object({ page: z.int(), text: z.string() })
  for (const { id, filename } of z.array(z.object({ id: z.string(), filename: z.string() })).parse(documents)) {
    const pages = new Map<number, string>()
    for (let from = 0; ; from += 100) {
      const { data } = await client
        .from('document_pages')
        .select('page, text')
        .eq('document_id', id)
        .order('page')
        .range(from, from + 99)
        .throwOnError()
      const rows = z.array(pageRow).parse(data)
      for (const { page, text } of rows) pages.set(page, text)
      if (rows.length < 100) break
    }
    files.set(filename, pages)
  }
  return files
}

type Pages = Awaited<ReturnType<typeof readPages>>

const passagesOf = (pages: Pages): Passage[] =>
  [...pages].flatMap(([file, texts]) => [...texts].map(([page, text]) => ({ file, page, text })))

async function askReader(session: SignedIn, client: Client, questions: readonly Question[], pages: Pages) {
  const asked: Asked[] = []
  const textAt = (file: string, page: number, start: number, end: number): string =>
    pages.get(file)?.get(page)?.slice(start, end) ?? ''
  for await (const { question, row } of askAll(session, client, READER_MODEL, questions)) {
    const { sources = [], trace } = row.metadata ?? {}
    asked.push({
      question,
      query: trace?.query ?? question.question,
      answer: {
        content: row.content,
        sources: sources.filter(isPassageSource).map(({ filename: file, page, start, end, text }) => ({
          file,
          page,
          text: `${text}\n${textAt(file, page, start, end)}`,
        })),
      },
      handedOver: (trace?.considered ?? [])
        .filter(({ cut }) => cut === null)
        .map(({ filename: file, page, start, end }) => ({ file, page, text: textAt(file, page, start, end) })),
    })
  }
  return asked
}

async function askModel(session: SignedIn, client: Client, questions: readonly Question[], model: RecordingModel) {
  const recorded: Recorded[] = []
  for await (const { question, row } of askAll(session, client, RECORDING_MODEL, questions)) {
    const { text, characters } = model.lastSent()
    recorded.push({
      question,
      query: row.metadata?.trace?.query ?? question.question,
      isGiven: isGiven(question, text),
      tokens: characters / CHARACTERS_PER_TOKEN,
      isReworded: row.metadata?.trace?.otherWords !== undefined,
    })
  }
  return recorded
}

/** Opens the database of the server, which has ended, to look for the first stage that lost what was expected. */
async function openStages(dataDir: string, userId: string, pages: Pages) {
  const library = await openLibrary(dataDir)
  const everything = passagesOf(pages)
  const holdsAll = (question: Question, passages: readonly Passage[]): boolean =>
    alternatives(question).every((places) => holdsOneOf(passages, places))
  return {
    close: () => library.close(),
    /** Undefined if the expected text is among the candidates. */
    async lostBefore(question: Question, query: string): Promise<Loss | undefined> {
      if (!holdsAll(question, everything)) return 'not read'
      const found = await library.database.asUser({ role: 'authenticated', sub: userId }, (scope) =>
        searchPassages(scope, query, { limit: CANDIDATES }),
      )
      const candidates = found.map(({ filename: file, page, text }) => ({ file, page, text }))
      return holdsAll(question, candidates) ? undefined : 'not a candidate'
    },
    wasHandedOver: ({ question, handedOver }: Asked): boolean => holdsAll(question, handedOver),
  }
}

type Stages = Awaited<ReturnType<typeof openStages>>

async function lossOf(asked: Asked, stages: Stages): Promise<Loss> {
  const { question, query, answer } = asked
  if (question.kind === 'negative') return 'not refused'
  if (question.files.length > 0 && question.kind !== 'library') {
    const early = await stages.lostBefore(question, query)
    if (early !== undefined) return early
    if (!stages.wasHandedOver(asked)) return 'not handed over'
  }
  return isRefusal(answer) ? 'refused' : 'not quoted'
}

const counts = (losses: readonly Loss[]): string =>
  LOSSES.filter((loss) => losses.includes(loss))
    .map((loss) => `${losses.filter((each) => each === loss).length} ${loss}`)
    .join(', ')

interface Miss {
  readonly kind: Question['kind']
  readonly loss: Loss
}

async function findMisses(asked: readonly Asked[], recorded: readonly Recorded[], stages: Stages) {
  const [reader, model]: [Miss[], Miss[]] = [[], []]
  for (const each of asked) {
    const { question, answer } = each
    if (isRight(question, answer)) continue
    const loss = await lossOf(each, stages)
    reader.push({ kind: question.kind, loss })
    console.error(`Reader  ${question.id}  ${loss}: ${question.question}`)
  }
  for (const { question, query, ...given } of recorded) {
    if (given.isGiven) continue
    const loss = (await stages.lostBefore(question, query)) ?? 'not handed over'
    model.push({ kind: question.kind, loss })
    console.error(`Model   ${question.id}  ${loss}: ${question.question}`)
  }
  return { reader, model }
}

export async function run([folder, ...kinds]: string[]): Promise<Record<string, unknown>> {
  if (folder === undefined) throw new Error('usage: npm run bench -- questions <folder> [kind …]')
  const all = questionSet.parse(JSON.parse(await readFile(path.join(folder, 'questions.json'), 'utf8')))
  const wanted = new Set(all.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind)).map(({ id }) => id))
  // A follow-up needs the question before it.
  const questions = all.filter(
    ({ id }) => wanted.has(id) || all.some(({ id: later, followsUp }) => followsUp === id && wanted.has(later)),
  )
  const rewritesFile = path.join(folder, 'rewrites.json')
  const isRewriting = process.env['REWRITES'] !== 'off' && existsSync(rewritesFile)
  const rewrites = isRewriting
    ? z.record(z.string(), z.array(z.string())).parse(JSON.parse(await readFile(rewritesFile, 'utf8')))
    : {}
  const byQuestion = new Map(questions.map(({ id, question }) => [question, rewrites[id]?.join('\n')]))
  const model = await startRecordingModel((lastMessage) => byQuestion.get(lastMessage.trim()) ?? 'Recorded')
  const lasting = process.env['LIBRARY']
  if (lasting !== undefined) await mkdir(lasting, { recursive: true, mode: 0o711 })
  const session = await startSignedIn({
    RATE_LIMITS: 'off',
    OTHER_WORDS: String(isRewriting),
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    ...(lasting === undefined ? {} : { DATA_DIR: path.join(lasting, 'data') }),
  })
  try {
    const client = await session.open()
    await uploadAll(session, client, path.join(folder, 'documents'))
    const pages = await readPages(client)
    const asked = await askReader(session, client, questions, pages)
    const isOfModel = ({ kind }: Question) => !NEITHER_GIVEN_NOR_QUOTED.some((other) => other === kind)
    const recorded = await askModel(session, client, questions.filter(isOfModel), model)
    await session.alcove.end()
    const stages = await openStages(session.dataDir, session.userId, pages)
    try {
      return await summarise(wanted, asked, recorded, stages)
    } finally {
      await stages.close()
    }
  } finally {
    await session.close()
    await model.stop()
  }
}

async function summarise(
  wanted: ReadonlySet<string>,
  allAsked: readonly Asked[],
  allRecorded: readonly Recorded[],
  stages: Stages,
): Promise<Record<string, unknown>> {
  const asked = allAsked.filter(({ question }) => wanted.has(question.id))
  const recorded = allRecorded.filter(({ question }) => wanted.has(question.id))
  const misses = await findMisses(asked, recorded, stages)
  const rows = QUESTION_KINDS.flatMap((kind) => {
    const [mine, sent] = [asked, recorded].map(
      (list) => list.filter(({ question }) => question.kind === kind).length,
    ) as [number, number]
    if (mine === 0) return []
    const lost = (list: readonly Miss[]) => list.filter((miss) => miss.kind === kind).map(({ loss }) => loss)
    const [byReader, byModel] = [lost(misses.reader), lost(misses.model)]
    return [
      {
        kind,
        questions: mine,
        right: mine - byReader.length,
        given: sent === 0 ? null : sent - byModel.length,
        lostByReader: counts(byReader),
        lostBeforeModel: counts(byModel),
      },
    ]
  })
  console.table(rows)
  const answerable = asked.filter(({ question: { kind } }) => kind !== 'negative' && kind !== 'library')
  return {
    kinds: Object.fromEntries(
      rows.map(({ kind, questions, right, given }) => [
        kind,
        { questions, right, ...(given === null ? {} : { given }) },
      ]),
    ),
    given: recorded.length - misses.model.length,
    ofModel: recorded.length,
    wronglyRefused: answerable.filter(({ answer }) => isRefusal(answer)).length,
    answerable: answerable.length,
    tokensMedian: rounded(median(recorded.map(({ tokens }) => tokens)), 0),
    reworded: recorded.filter(({ isReworded }) => isReworded).length,
  }
}
