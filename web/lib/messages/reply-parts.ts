/** Merges streamed parts of a reply: in order, without repeats, each attempt replacing the one before. */
import type { ReplyError } from '#contract/message.ts'
import type { ReplyInProgress, ReplyPart } from '#contract/reply-events.ts'
import type { Source } from '#contract/source.ts'

type ReplyTool = NonNullable<ReplyPart['tool']>

export type ReplyView = {
  replyId: string
  messageId: string
  attempt: number
  /** The last applied part; -1 before the first of this attempt. */
  seq: number
  text: string
  reasoning: string
  tools: ReplyTool[]
  sources: Source[]
  phase: 'writing' | 'done' | 'stopped' | 'error'
  error: ReplyError | null
  buffered: ReplyPart[]
}

function emptyView(replyId: string, messageId: string, attempt: number): ReplyView {
  return {
    replyId,
    messageId,
    attempt,
    seq: -1,
    text: '',
    reasoning: '',
    tools: [],
    sources: [],
    phase: 'writing',
    error: null,
    buffered: [],
  }
}

/** A tool reports its start and its end: the later report replaces the earlier one. */
function withTool(tools: readonly ReplyTool[], tool: ReplyTool): ReplyTool[] {
  const open = tools.findLastIndex((other) =>
    tool.run === undefined ? other.name === tool.name && other.status === 'running' : other.run === tool.run,
  )
  return open === -1 ? [...tools, tool] : tools.with(open, tool)
}

function applyPart(view: ReplyView, part: ReplyPart): ReplyView {
  const next = { ...view, seq: part.seq }
  switch (part.type) {
    case 'text':
      return { ...next, text: view.text + (part.text ?? '') }
    case 'tool':
      return part.tool === undefined ? next : { ...next, tools: withTool(view.tools, part.tool) }
    case 'source':
      return part.source === undefined ? next : { ...next, sources: [...view.sources, part.source] }
    case 'restart':
      return { ...emptyView(part.replyId, part.messageId, part.attempt), seq: part.seq, buffered: view.buffered }
    case 'error':
      return { ...next, phase: 'error', error: part.error ?? null }
    case 'stopped':
    case 'done':
      return { ...next, phase: part.type }
    case 'thought': {
      const text = part.text ?? ''
      return { ...next, text, reasoning: view.reasoning + view.text.slice(text.length) }
    }
    case 'reasoning':
      return { ...next, reasoning: view.reasoning + (part.text ?? '') }
  }
}

const follows = (view: ReplyView, part: ReplyPart): boolean =>
  view.seq === -1 ? part.seq <= 1 : part.seq === view.seq + 1

function applyBuffered(view: ReplyView): ReplyView {
  let current = view
  for (;;) {
    const buffered = current.buffered.filter((part) => part.attempt === current.attempt && part.seq > current.seq)
    const next = buffered.find((part) => follows(current, part))
    if (next === undefined) return { ...current, buffered }
    current = applyPart({ ...current, buffered }, next)
  }
}

/** Merges one part: drops repeats and parts of earlier attempts, buffers parts after a gap. */
export function mergePart(view: ReplyView | null, part: ReplyPart): ReplyView {
  const same = view !== null && view.replyId === part.replyId && view.messageId === part.messageId
  if (!same || part.attempt > view.attempt) {
    return applyBuffered({ ...emptyView(part.replyId, part.messageId, part.attempt), buffered: [part] })
  }
  if (part.attempt < view.attempt || part.seq <= view.seq) return view
  return applyBuffered({ ...view, buffered: [...view.buffered, part] })
}

/** Merges a snapshot of the reply; parts that arrived after it stay. */
export function mergeSnapshot(view: ReplyView | null, snapshot: ReplyInProgress): ReplyView {
  const same = view !== null && view.replyId === snapshot.replyId && view.messageId === snapshot.messageId
  if (same && (view.attempt > snapshot.attempt || (view.attempt === snapshot.attempt && view.seq >= snapshot.seq))) {
    return view
  }
  const rebuilt = snapshot.parts
    .filter((part) => part.attempt === snapshot.attempt)
    .toSorted((a, b) => a.seq - b.seq)
    .reduce(applyPart, emptyView(snapshot.replyId, snapshot.messageId, snapshot.attempt))
  return applyBuffered({ ...rebuilt, buffered: same ? view.buffered : [] })
}

export const hasGap = (view: ReplyView): boolean => view.buffered.length > 0
