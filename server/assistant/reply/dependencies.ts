/** Everything that writing an answer needs. */
import { type ReplyClaims } from '#server/assistant/queue/claims.ts'
import { type Titles } from '#server/assistant/titles/titles.ts'
import { type ExternalTools } from '#server/assistant/tools/external-tools.ts'
import { type BackgroundThrottle } from '#server/base/background-throttling.ts'
import { type Log } from '#server/base/log.ts'
import { type ToolConsents } from '#server/connections/tool-consent.ts'
import { type ConnectedServer } from '#server/connections/tool-servers.ts'
import { type Database } from '#server/database/scope.ts'
import { type ViewPicture } from '#server/documents/picture-view.ts'
import { type Embedder } from '#server/providers/embed.ts'
import { type ResolveProviders } from '#server/providers/provider-registry.ts'
import { type ReplyLog } from './reply-log.ts'

/** How the writing of an answer is ended from outside. */
export interface Interruptions {
  /** The person wants no more: what is written is kept. */
  readonly stopped: AbortSignal
  /** Another worker has the reply, or the server is stopping: nothing is kept. */
  readonly abandoned: AbortSignal
}

/** Tools that people connect for themselves. */
export interface PersonalToolServers {
  readonly listFor: (owner: string) => Promise<readonly ConnectedServer[]>
  readonly consents: ToolConsents
}

export interface ReplyDependencies {
  readonly database: Database
  /** Bounds how many read at once, so that a rush of questions leaves connections to everyone else. */
  readonly limitReads: <T>(run: () => Promise<T>) => Promise<T>
  readonly providersOf: ResolveProviders
  readonly replyClaims: ReplyClaims
  readonly replyLog: ReplyLog
  readonly titles: Titles
  readonly externalTools: ExternalTools
  /** Null or absent: passages are found by words alone. */
  readonly embedderOf?: (owner: string, hasOwnProviders: boolean) => Promise<Embedder | null>
  /** Absent: of pictures, only the text that was recognised in them is read. */
  readonly viewPicture?: ViewPicture
  readonly toolServers: PersonalToolServers
  /** How long a question waits for documents that are still being read, whatever it asks; absent: as that tells. */
  readonly documentWaitLimitMs?: number
  /** Rises whenever this process has cause to look for questions, above all when one is announced. */
  readonly wakeCount: () => number
  /** Over what is read in the background, until the first words are there. */
  readonly backgroundThrottle?: BackgroundThrottle
  readonly log: Log
}
