import { READER_MODEL } from '#contract/product-names.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isPassageSource, isWebSource, type Source } from '#contract/source.ts'
import type { RetrievalTrace } from '#contract/trace.ts'
import type { OwnUsage } from '#contract/usage.ts'
import { truncateSource } from '#server/assistant/citations/focus-source.ts'
import { createSourceList, type SourceList } from '#server/assistant/citations/source-list.ts'
import { numbered } from '#server/assistant/extractive/quotable.ts'
import { selectQuotes } from '#server/assistant/extractive/select-quotes.ts'
import type { ClaimedReply } from '#server/assistant/lease/claimed-reply.ts'
import type { LibraryAnswer } from '#server/assistant/library-questions/find-library-answer.ts'
import { readLibraryFacts } from '#server/assistant/library-questions/library-facts.ts'
import { readTimeZone } from '#server/assistant/library-questions/wall-clock.ts'
import { findUnreadDocuments, type UnreadDocuments } from '#server/assistant/retrieval/await-documents.ts'
import { findPassages, resolveChosen, type SearchAgain } from '#server/assistant/retrieval/find-passages.ts'
import { refersBack } from '#server/assistant/retrieval/follow-up.ts'
import { passageRoom } from '#server/assistant/retrieval/passage-room.ts'
import { parseCommands, type ToolCall } from '#server/assistant/tools/commands.ts'
import type { ToolRun } from '#server/assistant/tools/outcome.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { TurnsInPrompt } from '#server/conversations/earlier-message-queries.ts'
import { isUntitled, readTurns, type Turn } from '#server/conversations/queries.ts'
import { readSummary, type StoredSummary } from '#server/conversations/summary-queries.ts'
import type { Scope } from '#server/database/scope.ts'
import type { ViewPicture } from '#server/documents/picture-view.ts'
import type { Embedder } from '#server/providers/embed.ts'
import type { RankedSearch } from '#server/search/search.ts'
import {
  type AttachedPicture,
  findPictures,
  showPictures,
  type ShownPicture,
  withPictureSources,
} from './attached-images.ts'
import {
  appendSources,
  NO_ANSWER,
  numbersOf,
  type UnfinishedAnswer,
  readUnfinishedAnswer,
  readSourcesOf,
} from './continuation.ts'

export interface ReplyContext {
  readonly isUntitled: boolean
  /** Written by the members of the conversation's space, for every question in it. */
  readonly instructions: string
  readonly unfinished: UnfinishedAnswer
  /** Replaces the turns before `history`. */
  readonly summary: StoredSummary | undefined
  readonly history: readonly Turn[]
  readonly turnsInPrompt: TurnsInPrompt
  readonly model: {
    readonly identifier: string
    readonly provider: string | undefined
    readonly contextWindow: number
    /** False: only a key of the person or the space may reach it. */
    readonly isOffered: boolean
  }
  readonly sources: readonly Source[]
  readonly attachedPictures: readonly AttachedPicture[]
  readonly pictures: readonly ShownPicture[]
  /** The question without commands, as it was typed. */
  readonly question: string
  readonly query: string
  readonly trace: RetrievalTrace | undefined
  /** Rankings of the search, until other words are searched for; none where documents are awaited and searched again. */
  readonly ranked: RankedSearch | undefined
  readonly searchAgain: SearchAgain | undefined
  /** Notes of the trace that hold however often it is searched. */
  readonly placeNotes: readonly string[]
  /** The sources are only the nearest passages: none answers. */
  readonly refusal: { readonly reason: string | undefined } | undefined
  /** Stemming languages of the library. */
  readonly languages: readonly string[]
  readonly chosen: readonly string[]
  readonly unread: UnreadDocuments
  readonly hasDocuments: boolean
  /** Whether the person has no documents at all, read or not. */
  readonly isEmptyLibrary: boolean
  readonly missingDocumentNotes: readonly string[]
  /** The answer to a question about the library itself. */
  readonly libraryAnswer: LibraryAnswer | undefined
  /** For a model whose question concerns the library. */
  readonly libraryFacts: string | undefined
  /** Steps before the answer that are stored as tool runs. */
  readonly steps: readonly ToolRun[]
  readonly commands: readonly { readonly call: ToolCall; readonly run: ToolRun | undefined }[]
  readonly hasConnected: { readonly providers: boolean; readonly toolServers: boolean }
  /** The space of the conversation, if questions in it may use keys of its owners. */
  readonly keysOfSpace: string | null
  /** In a space, whose owner has the room, only whether there is some. */
  readonly textRoom: { readonly isLeft: boolean } | Pick<OwnUsage, 'text_bytes' | 'text_limit'>
}

const MAX_HISTORY_TURNS = 2_000
/** Earlier turns that a follow-up question may refer to. */
const MAX_EARLIER_TURNS = 20
const DEFAULT_CONTEXT_WINDOW = 8_000

interface ConversationState {
  readonly title: string | null
  readonly instructions: string | null
  readonly space: string | null
  readonly space_id: string | null
  readonly has_space_keys: boolean
  /** Whether the question may use the asker's own documents (`limitToLibraries`). */
  readonly has_own_documents: boolean
  /** Whether another model answers than the conversation names. */
  readonly is_replaced: boolean
  readonly has_space_room: boolean
  readonly identifier: string
  readonly provider: string | null
  readonly context_window: number | null
  readonly sees: boolean | null
  /** Null: there is no such model that the asker may read. */
  readonly is_offered: boolean | null
  readonly documents: number
  readonly unread: number
  readonly ready: number
  readonly has_providers: boolean
  readonly has_tool_servers: boolean
  readonly text_bytes: number
  readonly text_limit: number
}

async function readConversationState(
  scope: Scope,
  { conversationId, modelName }: ClaimedReply,
): Promise<ConversationState> {
  const { rows } = await scope.prepared<ConversationState & Record<string, unknown>>(
    // A member cannot use the model server of another member, and none that of another space.
    `select c.title, s.instructions, s.name as space, c.space_id,
       c.space_id is not null and has_space_keys(c.space_id) as has_space_keys,
       auth.uid() = any ((select libraries_to('read'))::uuid[]) as has_own_documents,
       wanted.identifier <> chosen.identifier as is_replaced, chosen.identifier, m.provider, m.context_window, m.sees,
       case when m.id is not null then coalesce(m.is_offered, true) or m.is_default end as is_offered,
       d.documents, d.unread, d.ready,
       exists (select from own_providers) as has_providers, exists (select from tool_servers) as has_tool_servers,
       used.text_bytes::float8, used.text_limit::float8, c.space_id is null or has_text_room(c.space_id) as has_space_room
     from conversations c
     left join spaces s on s.id = c.space_id
     cross join lateral (select coalesce($2::text, c.model_name) as identifier) wanted
     cross join lateral (
       select case
         when c.space_id is not null and starts_with(wanted.identifier, 'endpoint:')
           and not exists (select from own_providers o where starts_with(wanted.identifier, 'endpoint:' || o.id || '/'))
           and not exists (select from models o where o.model_identifier = wanted.identifier and o.space_id = c.space_id)
         then coalesce(
           (select usable.model_identifier from models usable
            where usable.model_identifier = s.default_model and coalesce(usable.space_id, c.space_id) = c.space_id),
           (select usable.model_identifier from models usable
            where usable.is_default and usable.owner is null and usable.space_id is null limit 1),
           '${READER_MODEL}')
         else wanted.identifier
       end as identifier
     ) chosen
     left join models m on m.model_identifier = chosen.identifier
     cross join own_usage() used
     cross join (
       select count(*) as documents, count(*) filter (where state in ('queued', 'reading', 'paused')) as unread,
         count(*) filter (where state = 'ready') as ready
       from documents
     ) d
     where c.id = $1`,
    [conversationId, modelName],
  )
  const [state] = rows
  if (!state) throw new AppError('not_found', 'There is no such conversation.')
  return state
}

/** Runs as the person who asked, so that row policies apply to retrieval; with `GENERIC_PLANS`. */
export async function readContext(
  scope: Scope,
  reply: ClaimedReply,
  embedding: Promise<Embedder | null>,
  passageTokens: number,
): Promise<ReplyContext> {
  const [state, history, summary, unfinished] = await Promise.all([
    readConversationState(scope, reply),
    readTurns(scope, reply.conversationId, reply.messageId, MAX_HISTORY_TURNS),
    readSummary(scope, reply.conversationId, reply.messageId),
    reply.kind === 'continue' ? readUnfinishedAnswer(scope, reply.answerId) : NO_ANSWER,
  ])
  const { identifier } = state
  const question = history.at(-1)
  const parsed = parseCommands(question?.content ?? '')
  const contextWindow = state.context_window ?? DEFAULT_CONTEXT_WINDOW
  const turnsInPrompt = { conversationId: reply.conversationId, after: summary?.throughPosition ?? 0 }
  const chosen = await resolveChosen(scope, question?.document_ids)
  const options = {
    onlyQuotes: identifier === READER_MODEL,
    chosen,
    earlierQuestions: history
      .slice(-MAX_EARLIER_TURNS - 1, -1)
      .filter(({ sender_role }) => sender_role === SENDER_ROLES.user)
      .map(({ content }) => parseCommands(content).text),
    turnsInPrompt,
    hasDocuments: state.documents > 0,
    contextWindow,
    room: passageRoom(contextWindow, passageTokens),
    embedder: await embedding,
    timeZone: readTimeZone(question?.time_zone),
  }
  // The best plan of a search depends on its words.
  const isSearched = options.hasDocuments || parsed.calls.length > 0
  const planned = isSearched ? scope.query('set local plan_cache_mode = auto') : undefined
  const [retrieval] = await Promise.all([findPassages(scope, parsed, options), planned])
  const { query, passages, messages, runs, trace, languages = [], targetDocumentIds, missingDocumentNotes } = retrieval
  const { library } = retrieval
  const placeNotes = describePlace(state)
  const isWhole = trace?.scope === 'whole'
  const found = numbered([...passages, ...messages])
  const selected =
    options.onlyQuotes && !library
      ? await selectQuotes(scope, query, {
          question: parsed.text,
          found,
          isWhole,
          parts: retrieval.parts ?? [],
          cited: refersBack(parsed.text)
            ? await readSourcesOf(
                scope,
                history.findLast(({ sender_role }) => sender_role === SENDER_ROLES.assistant)?.id,
              )
            : [],
          isJudged: parsed.calls.length === 0,
        })
      : undefined
  const sources = selected?.quotes ?? appendSources(unfinished.sources, found)
  const refusal = selected?.answers === false ? { reason: selected.reason } : undefined
  const hasAnswer = trace === undefined || library !== undefined || (sources.length > 0 && !refusal)
  const unread = await findUnreadDocuments(scope, {
    ...state,
    ...options,
    question: trace === undefined || library ? undefined : parsed.text,
    targetDocumentIds,
    hasAnswer,
    // Documents that are not read yet count in a question about the library.
    isWhole: isWhole || library !== undefined,
  })
  return {
    isUntitled: isUntitled(state.title),
    instructions: state.instructions ?? '',
    history,
    turnsInPrompt,
    unfinished,
    summary,
    model: { identifier, provider: state.provider ?? undefined, contextWindow, isOffered: state.is_offered === true },
    unread,
    hasDocuments: state.ready > 0,
    isEmptyLibrary: state.documents === 0,
    missingDocumentNotes,
    libraryAnswer: library,
    // A model that is asked about chosen documents is not told the names of others.
    libraryFacts:
      options.onlyQuotes || chosen.length > 0
        ? undefined
        : await readLibraryFacts(scope, {
            question: parsed.text,
            answer: library,
            numbers: numbersOf(passages, sources),
            contextWindow,
          }),
    sources,
    attachedPictures: state.sees === true ? await findPictures(scope, history) : [],
    pictures: [],
    question: parsed.text,
    query,
    trace:
      trace &&
      withNote(
        trace,
        ...placeNotes,
        ...(refusal?.reason === undefined ? [] : [`Nothing answers this: ${refusal.reason}.`]),
      ),
    ranked: unread.awaitedIds.length === 0 ? retrieval.ranked : undefined,
    searchAgain: retrieval.searchAgain,
    placeNotes,
    refusal,
    languages,
    chosen,
    steps: [],
    commands: parsed.calls.map((call) => ({ call, run: runs.get(call) })),
    hasConnected: { providers: state.has_providers, toolServers: state.has_tool_servers },
    keysOfSpace: state.has_space_keys ? state.space_id : null,
    textRoom:
      state.space === null
        ? { text_bytes: state.text_bytes, text_limit: state.text_limit }
        : { isLeft: state.has_space_room },
  }
}

/** In a space, the documents that were searched, and a model that answers instead of one that cannot be used there. */
const describePlace = ({ space, has_own_documents: hasOwn, is_replaced: isReplaced }: ConversationState): string[] =>
  space === null
    ? []
    : [
        `Searched the documents of the space “${space}”${hasOwn ? ' and your own' : ''}.`,
        ...(isReplaced ? ['The model of this conversation is not available to you here, so another one answers.'] : []),
      ]

const withNote = (trace: RetrievalTrace, ...notes: readonly string[]): RetrievalTrace => ({
  ...trace,
  notes: [...trace.notes, ...notes],
})

/** Searches again, for what was searched for before and for other words. Runs as the person. */
export async function searchInOtherWords(
  scope: Scope,
  context: ReplyContext,
  otherWords: readonly string[],
): Promise<ReplyContext> {
  const { unfinished, ranked, searchAgain, placeNotes } = context
  if (!searchAgain) return context
  const { passages, trace } = await searchAgain(scope, {
    otherWords: [...new Set([...(context.trace?.otherWords ?? []), ...otherWords])],
    earlier: ranked,
  })
  return {
    ...context,
    sources: appendSources(unfinished.sources, numbered(passages)),
    trace: withNote(trace, ...placeNotes),
  }
}

/** Runs after the database reads, so that no connection waits for it. @throws the reason of an aborted signal. */
export async function loadPictures(
  context: ReplyContext,
  { viewPicture, log }: { readonly viewPicture?: ViewPicture; readonly log: Log },
  signal: AbortSignal,
): Promise<ReplyContext> {
  const { attachedPictures, model, sources, trace } = context
  if (attachedPictures.length === 0 || !viewPicture) return context
  const { pictures, notes } = await showPictures(attachedPictures, { view: viewPicture, log, model, signal })
  return {
    ...context,
    pictures,
    sources: withPictureSources(sources, pictures),
    trace: trace && withNote(trace, ...notes),
  }
}

export function listContextSources({ sources, unfinished, pictures, trace }: ReplyContext): SourceList {
  const isWhole = trace?.scope === 'whole'
  const isOfPicture = (source: Source) =>
    isPassageSource(source) && pictures.some(({ documentId }) => documentId === source.documentId)
  return createSourceList(sources, {
    // A continuation has only the card texts of earlier sources, and a picture shows more than its recognised text.
    isPartial: (source) =>
      (unfinished.sources.includes(source) && (isWhole || isWebSource(source))) || isOfPicture(source),
    ...(isWhole ? { toCard: (source) => (isPassageSource(source) ? truncateSource(source) : source) } : {}),
  })
}
