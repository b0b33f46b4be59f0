import { FILE_TYPES } from '#contract/file-types.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isPassageSource, type Source } from '#contract/source.ts'
import { resolveChosen } from '#server/assistant/retrieval/find-passages.ts'
import { parseDocumentNames } from '#server/assistant/retrieval/knowledge.ts'
import { parseCommands } from '#server/assistant/tools/commands.ts'
import type { Log } from '#server/base/log.ts'
import type { Turn } from '#server/conversations/queries.ts'
import type { Scope } from '#server/database/scope.ts'
import type { PictureFile, ViewPicture } from '#server/documents/picture-view.ts'
import { listFiles } from '#server/documents/store/library.ts'
import type { ChatPicture } from '#server/providers/chat.ts'
import { pictureTokens } from '#server/providers/vision.ts'

export interface AttachedPicture extends PictureFile {
  readonly documentId: string
  readonly filename: string
  readonly messageId: string
}

export interface ShownPicture extends Pick<AttachedPicture, 'documentId' | 'filename' | 'mimetype' | 'messageId'> {
  readonly bytes: ChatPicture['bytes']
  readonly tokens: number
}

const MAX_QUESTIONS = 20
/** Anthropic accepts large pictures only in requests with at most this many; other providers accept as many. */
const MAX_PICTURES = 20
const MAX_PICTURES_SHARE = 0.4

async function readAttachedIds(scope: Scope, { content, document_ids }: Turn): Promise<readonly string[]> {
  const named: string[] = []
  for (const { name, argument } of parseCommands(content).calls)
    if (name === 'knowledge') named.push(...(await parseDocumentNames(scope, argument)).documentIds)
  if (named.length > 0) return named
  return resolveChosen(scope, document_ids)
}

/** Each picture with the newest question that names it, newest first. `history`: oldest first. Runs as the person. */
export async function findPictures(scope: Scope, history: readonly Turn[]): Promise<AttachedPicture[]> {
  const questions = history.filter(({ sender_role }) => sender_role === SENDER_ROLES.user).slice(-MAX_QUESTIONS)
  const messageByDocument = new Map<string, string>()
  for (const turn of questions.toReversed())
    for (const id of await readAttachedIds(scope, turn))
      if (!messageByDocument.has(id)) messageByDocument.set(id, turn.id)
  if (messageByDocument.size === 0) return []
  const files = await listFiles(scope, [...messageByDocument.keys()], {
    mimetypes: FILE_TYPES.flatMap(({ viewer, mediaType }) => (viewer === 'image' ? [mediaType] : [])),
    limit: MAX_PICTURES,
  })
  return files.map((file) => ({ ...file, messageId: messageByDocument.get(file.documentId) ?? '' }))
}

interface ShowOptions {
  readonly view: ViewPicture
  readonly log: Log
  readonly model: {
    readonly identifier: string
    readonly provider: string | undefined
    readonly contextWindow: number
  }
  readonly signal: AbortSignal
}

export interface ShownPictures {
  readonly pictures: readonly ShownPicture[]
  readonly notes: readonly string[]
}

/** Shows as many as fit, those of the last question first. @throws the reason of an aborted signal. */
export async function showPictures(
  attached: readonly AttachedPicture[],
  { view, log, model, signal }: ShowOptions,
): Promise<ShownPictures> {
  const { identifier, provider, contextWindow } = model
  let room = Math.floor(contextWindow * MAX_PICTURES_SHARE)
  const pictures: ShownPicture[] = []
  const notes: string[] = []
  for (const { documentId, filename, messageId, ...file } of attached) {
    try {
      const { bytes, width, height } = await view(file, signal)
      const tokens = pictureTokens(provider, identifier, { width, height })
      if (tokens > room) {
        notes.push(`There was no room for the picture ${filename}: only its text was read.`)
        continue
      }
      room -= tokens
      pictures.push({ documentId, filename, mimetype: file.mimetype, messageId, bytes, tokens })
      notes.push(`The model was shown ${filename} as a picture of ${width} × ${height} (about ${tokens} tokens).`)
    } catch (error) {
      signal.throwIfAborted()
      log.info({ err: error, document: documentId }, 'a picture could not be shown to a model')
      notes.push(`The picture ${filename} could not be opened: only its text was read.`)
    }
  }
  return { pictures, notes }
}

/** Every picture gets a source to be cited by, even without recognised text. */
export function withPictureSources(sources: readonly Source[], pictures: readonly ShownPicture[]): Source[] {
  const known = new Set(sources.filter(isPassageSource).map(({ documentId }) => documentId))
  const last = Math.max(0, ...sources.map(({ n }) => n))
  const added = pictures
    .filter(({ documentId }) => !known.has(documentId))
    .map(({ documentId, filename, mimetype }, index) => ({
      n: last + index + 1,
      documentId,
      filename,
      mimetype,
      page: 1,
      start: 0,
      end: 0,
      text: '',
      score: 0,
    }))
  return [...sources, ...added]
}
