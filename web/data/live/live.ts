/** One socket: live changes and streamed replies go into the cache and the thread store. */
import { REALTIME_SUBSCRIBE_STATES, RealtimeClient, type RealtimeChannel } from '@supabase/realtime-js'
import { notifyManager, type QueryClient } from '@tanstack/react-query'
import { conversationRow } from '#contract/conversation.ts'
import { messageRow, SENDER_ROLES } from '#contract/message.ts'
import { conversationTopic, REPLY_EVENT, replyPart, type ReplyPart } from '#contract/reply-events.ts'
import { isTemporary, type Thread, type ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { hasGap, mergePart, mergeSnapshot, type ReplyView } from '#web/lib/messages/reply-parts.ts'
import { isReplyStored } from '#web/lib/messages/overlay-reply.ts'
import { config } from '#web/data/config.ts'
import { followNetwork, setChannelJoined } from './connection.ts'
import {
  conversationsKey,
  removeCachedConversation,
  cacheConversation,
  refetchConversations,
} from '#web/data/conversations.ts'
import { applyDocumentChange, documentsKey } from '#web/data/documents/documents.ts'
import { cacheMessages, messagesKey, fetchReplyInProgress, refetchNewestMessages } from '#web/data/messages.ts'
import { refetchModels } from '#web/data/models.ts'
import { refetch } from '#web/data/refetch.ts'
import { accessToken, anonKey, confirmSession, onSessionEvent, type AuthChangeEvent } from '#web/data/auth/session.ts'
import { receiveAnswer, setAwaiting, setReply, useThreadStore } from '#web/data/thread-store.ts'

/** A row of `postgres_changes`, as far as its readers need it. */
type RowChange = { eventType: 'INSERT' | 'UPDATE' | 'DELETE'; new: unknown; old: unknown }

/** At most twenty commits of streamed text a second. */
const COMMIT_MS = 50

/** So many letters at once come faster than anybody reads: in fewer steps, of which each costs the page its share. */
const MANY_LETTERS = 500
const COMMIT_MANY_MS = 200

/** Changed models are read again so long after the first of them. */
const MODELS_MS = 100

/** When a reply has ended and its row has not come, it is looked for at these times. */
const FOLLOW_UPS_MS = [100, 250, 500]

/** Events that come with another token. */
const RENEWED = new Set<AuthChangeEvent>(['TOKEN_REFRESHED', 'SIGNED_IN', 'MFA_CHALLENGE_VERIFIED'])

let socket: RealtimeClient | null = null
let renewing: Promise<void> = Promise.resolve()

/** The page's one socket; after a sign-out another one. */
export function realtime(): RealtimeClient {
  if (socket !== null) return socket
  const address = new URL(`${config().supabaseUrl}/realtime/v1`, location.origin)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  const made = new RealtimeClient(address.href, { params: { apikey: anonKey() }, accessToken })
  const stop = onSessionEvent((event) => {
    if (RENEWED.has(event)) logged(renewToken(made))
    if (event !== 'SIGNED_OUT') return
    // Leaving takes a while: channels that are joined meanwhile would be those of before, or closed with them.
    stop()
    socket = null
    logged(made.removeAllChannels())
  })
  socket = made
  return made
}

/** One after the other: the client drops the token of a call that another one overtakes, and a channel would join without. */
function renewToken(client: RealtimeClient): Promise<void> {
  const renew = (): Promise<void> => client.setAuth()
  renewing = renewing.then(renew, renew)
  return renewing
}

function logged(task: Promise<unknown>): void {
  task.catch((error: unknown) => console.error(error))
}

/**
 * Joins a channel once a token is at hand; `joined` runs after every join and rejoin, `broken` whenever it breaks off or
 * cannot be joined. Returns the function that leaves.
 */
function join(
  build: (client: RealtimeClient) => RealtimeChannel,
  joined: () => void,
  broken: () => void = () => undefined,
): () => void {
  const client = realtime()
  let left = false
  let channel: RealtimeChannel | null = null
  const start = async (): Promise<void> => {
    await renewToken(client)
    if (left) return
    channel = build(client)
    channel.subscribe((status, error) => {
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED) joined()
      // The server closes channels by itself only when their session has ended.
      else if (status === REALTIME_SUBSCRIBE_STATES.CLOSED && !left) logged(confirmSession())
      else if (!left) {
        broken()
        if (error !== undefined) console.error(error)
      }
    })
  }
  logged(start())
  return () => {
    left = true
    if (channel !== null) logged(client.removeChannel(channel))
  }
}

/** Calls back when the changes of a channel begin to flow; a row written before that is in no message of it. */
function onChangesReady(channel: RealtimeChannel, ready: () => void): RealtimeChannel {
  return channel.on('system', {}, (message: { extension?: string; status?: string; message?: string }) => {
    if (message.status === 'error') console.error('Live changes', message.message)
    else if (message.extension === 'postgres_changes') ready()
  })
}

function applyConversationChange(queryClient: QueryClient, userId: string, change: RowChange): void {
  if (change.eventType === 'DELETE') {
    const gone = conversationRow.pick({ id: true }).safeParse(change.old)
    if (gone.success) removeCachedConversation(queryClient, userId, gone.data.id)
    return
  }
  const row = conversationRow.safeParse(change.new)
  if (row.success) cacheConversation(queryClient, userId, row.data)
  else logged(refetch(queryClient, { queryKey: conversationsKey(userId) }))
}

/** Follows a person's conversations and documents, and the list of models. Returns the function that stops. */
export function followAccount(queryClient: QueryClient, userId: string): () => void {
  const refresh = (): void => {
    logged(refetchConversations(queryClient, userId))
    logged(refetch(queryClient, { queryKey: documentsKey }))
    logged(refetchModels(queryClient))
  }
  let modelsTimer: ReturnType<typeof setTimeout> | undefined
  // A server may list hundreds at once.
  const reloadModelsSoon = (): void => {
    modelsTimer ??= setTimeout(() => {
      modelsTimer = undefined
      logged(refetchModels(queryClient))
    }, MODELS_MS)
  }
  let joins = 0
  const leave = join(
    (client) =>
      onChangesReady(client.channel(`conversations:${userId}`), refresh)
        .on(
          'postgres_changes',
          { event: '*', schema: 'public', table: 'conversations', filter: `uid=eq.${userId}` },
          (change) => applyConversationChange(queryClient, userId, change),
        )
        .on(
          'postgres_changes',
          { event: '*', schema: 'public', table: 'documents', filter: `owner=eq.${userId}` },
          (change) => applyDocumentChange(queryClient, change),
        )
        .on('postgres_changes', { event: '*', schema: 'public', table: 'models' }, reloadModelsSoon),
    () => {
      setChannelJoined(true)
      joins += 1
      if (joins > 1) refresh()
    },
    () => setChannelJoined(false),
  )
  const stopFollowing = followNetwork()
  return () => {
    clearTimeout(modelsTimer)
    stopFollowing()
    leave()
  }
}

/** Puts rows into the thread and ends what waited for them. */
function receiveMessages(queryClient: QueryClient, conversationId: string, rows: ThreadMessage[]): void {
  cacheMessages(queryClient, conversationId, rows)
  for (const row of rows) if (row.sender_role === SENDER_ROLES.assistant) receiveAnswer(conversationId, row.content)
  settleReply(queryClient, conversationId)
}

/** The streamed reply gives way to its stored row once that is at hand. */
function settleReply(queryClient: QueryClient, conversationId: string): boolean {
  const reply = useThreadStore.getState().replies[conversationId]
  if (reply === undefined) return true
  const thread = queryClient.getQueryData<Thread>(messagesKey(conversationId))
  const stored = thread?.messages.some((message) => isReplyStored(message, reply)) ?? false
  // After those who watch the thread have been told of the row: before, there would be a moment without either.
  if (stored)
    notifyManager.schedule(() => {
      if (useThreadStore.getState().replies[conversationId] === reply) setReply(conversationId, null)
    })
  return stored
}

/** Follows the messages of one conversation and the reply that is being written. Returns the function that stops. */
export function followConversation(queryClient: QueryClient, conversationId: string): () => void {
  let stopped = false
  let reading = false
  let view: ReplyView | null = useThreadStore.getState().replies[conversationId] ?? null
  let commitTimer: ReturnType<typeof setTimeout> | undefined
  const followUps: ReturnType<typeof setTimeout>[] = []

  const refresh = async (): Promise<void> => {
    await refetchNewestMessages(queryClient, conversationId)
    if (!stopped) settleReply(queryClient, conversationId)
  }

  const isStored = (reply: ReplyView): boolean => {
    const { messages } = queryClient.getQueryData<Thread>(messagesKey(conversationId)) ?? { messages: [] }
    return messages.some((message) => isReplyStored(message, reply))
  }

  const storedQuestion = (): string | undefined => {
    const { messages } = queryClient.getQueryData<Thread>(messagesKey(conversationId)) ?? { messages: [] }
    const last = messages.findLast((message) => message.sender_role === SENDER_ROLES.user)
    return last === undefined || isTemporary(last) ? undefined : last.id
  }

  const commit = (): void => {
    commitTimer = undefined
    if (stopped || view === null) return
    if (isStored(view)) {
      view = null
      return
    }
    setReply(conversationId, view)
    if (view.phase !== 'writing' && followUps.length === 0) {
      for (const delay of FOLLOW_UPS_MS) followUps.push(setTimeout(() => lookAgain(delay), delay))
    }
  }

  const lookAgain = (delay: number): void => {
    if (settleReply(queryClient, conversationId)) return
    console.warn(`The row of a finished reply has not come after ${delay} ms, asking for it`)
    logged(refresh())
  }

  const commitSoon = (letters: number): void => {
    commitTimer ??= setTimeout(commit, letters > MANY_LETTERS ? COMMIT_MANY_MS : COMMIT_MS)
  }

  const readWritten = async (): Promise<void> => {
    if (reading) return
    reading = true
    try {
      const question = storedQuestion()
      const written = await fetchReplyInProgress(conversationId)
      if (stopped) return
      if (written === null) {
        await refresh()
        // Nothing is being written for a question that was stored before: nobody will answer it any more.
        if (question !== undefined) setAwaiting(conversationId, { kind: 'ended', questionId: question })
      } else {
        view = mergeSnapshot(view, written)
        commitSoon(0)
      }
    } finally {
      reading = false
    }
  }

  const receivePart = (part: ReplyPart): void => {
    if (view !== null && view.replyId !== part.replyId) followUps.splice(0).forEach(clearTimeout)
    view = mergePart(view, part)
    if (hasGap(view)) logged(readWritten())
    commitSoon(part.text?.length ?? 0)
  }

  const receiveRow = (change: { new: unknown }): void => {
    const row = messageRow.safeParse(change.new)
    if (row.success) receiveMessages(queryClient, conversationId, [row.data])
    else logged(refresh())
  }

  const leaveMessages = join(
    (client) =>
      onChangesReady(client.channel(`messages:${conversationId}`), () => logged(refresh()))
        .on(
          'postgres_changes',
          { event: 'INSERT', schema: 'public', table: 'messages', filter: `conversation_id=eq.${conversationId}` },
          receiveRow,
        )
        .on(
          'postgres_changes',
          { event: 'UPDATE', schema: 'public', table: 'messages', filter: `conversation_id=eq.${conversationId}` },
          receiveRow,
        ),
    () => logged(refresh()),
  )
  const leaveReply = join(
    (client) =>
      client
        .channel(conversationTopic(conversationId), { config: { private: true } })
        .on('broadcast', { event: REPLY_EVENT }, ({ payload }) => {
          const part = replyPart.safeParse(payload)
          if (part.success) receivePart(part.data)
          else console.error('A part of a reply has an unknown shape', part.error)
        }),
    () => logged(readWritten()),
  )

  return () => {
    stopped = true
    clearTimeout(commitTimer)
    followUps.forEach(clearTimeout)
    leaveMessages()
    leaveReply()
    setReply(conversationId, null)
  }
}
