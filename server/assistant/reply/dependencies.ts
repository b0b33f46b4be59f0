import type { ReplyClaims } from '#server/assistant/lease/claims.ts'
import type { UsageLimits } from '#server/assistant/lease/spending.ts'
import type { Titles } from '#server/assistant/titles/titles.ts'
import type { ExternalTools } from '#server/assistant/tools/external-tools.ts'
import type { BackgroundThrottle } from '#server/base/background-throttling.ts'
import type { Log } from '#server/base/log.ts'
import type { ToolConsents } from '#server/connections/tool-consent.ts'
import type { ConnectedServer } from '#server/connections/tool-servers.ts'
import type { Database } from '#server/database/scope.ts'
import type { ViewPicture } from '#server/documents/picture-view.ts'
import type { Embedder } from '#server/providers/embed.ts'
import type { ResolveProviders } from '#server/providers/provider-registry.ts'
import type { ReplyLog } from './reply-log.ts'

export interface Interruptions {
  /** The person stops it: the text so far is stored. */
  readonly stopped: AbortSignal
  /** Another worker has the reply, or the server is stopping: nothing is stored. */
  readonly abandoned: AbortSignal
}

export interface PersonalToolServers {
  readonly listFor: (owner: string) => Promise<readonly ConnectedServer[]>
  readonly consents: ToolConsents
}

export interface ReplyDependencies {
  readonly database: Database
  /** Bounds concurrent reads, so that a burst of questions leaves connections to other requests. Owners take turns. */
  readonly limitReads: <T>(run: () => Promise<T>, owner: string) => Promise<T>
  readonly providersOf: ResolveProviders
  readonly replyClaims: ReplyClaims
  readonly replyLog: ReplyLog
  readonly titles: Titles
  readonly externalTools: ExternalTools
  /** Null or absent: passages are found by words alone. */
  readonly embedderOf?: (owner: string, hasOwnProviders: boolean) => Promise<Embedder | null>
  readonly viewPicture?: ViewPicture
  readonly toolServers: PersonalToolServers
  /** Longest wait for a named document that is still being read. */
  readonly documentWaitLimitMs: number
  /** Tokens of passages in the prompt of a model with a usual window. */
  readonly passageTokens: number
  /** Whether the answering model may be asked for other words before it answers. */
  readonly asksForOtherWords: boolean
  /** Absent: tokens are counted, and cost nothing. */
  readonly usageLimits?: UsageLimits
  /** Absent: eight seconds. */
  readonly otherWordsTimeoutMs?: number
  /** Increases whenever this process has a reason to look for questions. */
  readonly wakeCount: () => number
  readonly backgroundThrottle?: BackgroundThrottle
  readonly log: Log
}
