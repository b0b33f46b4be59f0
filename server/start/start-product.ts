/** Starts the product: the page, its API and the workers. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { describeFullFiles } from '#contract/usage.ts'
import { limitAddress } from '#server/access/limit-address.ts'
import { basePathOf } from '#server/access/public-path.ts'
import { createChangeRoutes } from '#server/api/changes.ts'
import { createConversationRoutes } from '#server/api/conversations.ts'
import { createDocumentRoutes } from '#server/api/documents.ts'
import { createEmbeddingsRoutes } from '#server/api/embeddings.ts'
import { createExportRoutes } from '#server/api/export.ts'
import { createModelRoutes } from '#server/api/models.ts'
import { createProviderRoutes } from '#server/api/providers.ts'
import { createReplyRoutes } from '#server/api/replies.ts'
import { createSearchRoutes } from '#server/api/search.ts'
import { createSharedLinkRoutes } from '#server/api/shared-links.ts'
import { createSpaceProviderRoutes } from '#server/api/space-providers.ts'
import { createSpaceRoutes, type InvitationMail, type ReceiptMail } from '#server/api/spaces.ts'
import { createToolServerRoutes } from '#server/api/tool-servers.ts'
import { createTranscriptionRoutes } from '#server/api/transcribe.ts'
import { createReplyClaims } from '#server/assistant/lease/claims.ts'
import { startWorker } from '#server/assistant/queue/worker.ts'
import { createReplyLog, type DeliverEarly } from '#server/assistant/reply/reply-log.ts'
import { createEmbeddingsChoices, type OperatorEmbeddings } from '#server/connections/embeddings-choice.ts'
import { applyModelChoices, refreshModels, refreshModelsAtStart } from '#server/connections/models.ts'
import { createModelOffers } from '#server/connections/offered-models.ts'
import type { ServerEndpoint } from '#server/connections/personal-embedders.ts'
import { createPersonalProviders } from '#server/connections/personal-providers.ts'
import { createSpaceProviders } from '#server/connections/space-providers.ts'
import { createToolConsents } from '#server/connections/tool-consent.ts'
import { createToolServers } from '#server/connections/tool-servers.ts'
import { openDatabase } from '#server/database/open-database.ts'
import { fileRoomOf, readOwnUsage } from '#server/database/quotas.ts'
import { createDocumentJobs } from '#server/documents/ingest/ingest-job.ts'
import { createPictureView } from '#server/documents/picture-view.ts'
import { addStoredFile } from '#server/documents/upload.ts'
import { startJobs } from '#server/jobs/start.ts'
import type { OperatorSettings } from '#server/operation/settings.ts'
import { createUsageJobs } from '#server/operation/usage-job.ts'
import { logConfinement } from '#server/parsing/sandbox/parser-process.ts'
import { createReusedParsers } from '#server/parsing/sandbox/reused-parsers.ts'
import { createWarmParsers } from '#server/parsing/sandbox/warm-processes.ts'
import { DEFAULT_BASE_URLS } from '#server/providers/default-base-urls.ts'
import { createEmbedder, type EmbedderSettings } from '#server/providers/embed.ts'
import { createGuardedFetch } from '#server/providers/guarded-fetch.ts'
import { openLocalEmbedder } from '#server/providers/local-model/local-embedder.ts'
import { createPriceTable } from '#server/providers/model-prices.ts'
import { createProviders } from '#server/providers/provider-registry.ts'
import { allowNetworks } from '#server/providers/public-address.ts'
import { createTranscriber } from '#server/providers/transcribe.ts'
import { createWebSearch } from '#server/providers/web-search.ts'
import { countCachedBytes, countCacheLookups } from '#server/search/index/byte-cache.ts'
import { createIndexJobs } from '#server/search/index/merge-job.ts'
import { createEmbeddingJobs } from '#server/search/vectors/embed-job.ts'
import { createSpaceJobs } from '#server/spaces/cleanup-job.ts'
import type { DocumentFile } from '#server/storage/store-object.ts'
import type { Gauges } from '#server/telemetry/gauges.ts'
import type { Foundation } from './foundation.ts'
import { readPrices } from './model-prices.ts'
import { limitsTokens, readModelChoices } from './operator-settings.ts'
import { createPageRoutes } from './page.ts'
import { listOperatedProviders, providerSettings } from './provider-settings.ts'

const BUILT_CLIENT = fileURLToPath(new URL('../../dist/web', import.meta.url))
const SIMULTANEOUS_REPLIES = 256
/** Reserved for the reply queue, so that leases are renewed while other connections are busy. */
const QUEUE_CONNECTIONS = 4

/** Where this process sends no mail, the page alone shows an invitation and a receipt. */
export interface SpaceMails {
  readonly sendInvitation: (invitation: InvitationMail) => Promise<void>
  readonly sendReceipt: (receipt: ReceiptMail) => Promise<void>
}

interface ServicesOfProcess {
  /** Reaches viewers connected to this process, as soon as any can connect. */
  readonly deliverEarly: DeliverEarly
  readonly spaceMails: SpaceMails
  readonly operatorSettings: OperatorSettings
}

export async function startProduct(
  foundation: Foundation,
  { deliverEarly, spaceMails, operatorSettings }: ServicesOfProcess,
) {
  const {
    config,
    log,
    undo,
    address,
    connection,
    database,
    background,
    listener,
    notifier,
    tokens,
    takeTurn,
    accessWatch,
    blobs,
    backgroundThrottle,
    encryptionKey,
  } = foundation
  const hasWorkers = config.ALCOVE_PARTS.has('workers')
  await operatorSettings.apply()
  const settings = providerSettings(config)
  const { openai, compatible } = settings
  const guardedFetch = createGuardedFetch({ allowAddress: allowNetworks(config.ALLOWED_NETWORKS) })
  const localEmbedder = await openLocalModel(config)
  if (localEmbedder) undo.push(() => localEmbedder.stop())
  const embedder = localEmbedder ?? createEmbedder(embedderSettings(config))
  const serverEndpoints = embedder ? [] : listServerEndpoints(config)
  const spaceProviders = createSpaceProviders({ database, encryptionKey, settings, guardedFetch, log })
  const personalProviders = createPersonalProviders({
    database,
    encryptionKey,
    settings,
    guardedFetch,
    embedder,
    serverEndpoints,
    keysOfSpace: (asker, spaceId) => spaceProviders.keysOf(asker, spaceId),
    log,
  })
  const embeddingsChoices = createEmbeddingsChoices({
    database,
    personalProviders,
    serverEndpoints,
    operator: localEmbedder
      ? { key: localEmbedder.model, model: localEmbedder.name, host: null }
      : describeOperatorEmbeddings(config),
  })
  const commands = config.TOOL_COMMANDS
  const toolServers = createToolServers({ database, encryptionKey, guardedFetch, commands, log })
  const providersOf = personalProviders.resolve
  const readChoices = readModelChoices(config, operatorSettings)
  const sharedModels = { database: background, settings, readChoices, log }
  const ocrProcesses = config.OCR_PROCESSES || availableParallelism()
  const warmParsers = createWarmParsers({ backgroundThrottle })
  undo.push(() => warmParsers.stop())
  const reusedParsers = createReusedParsers({ backgroundThrottle })
  undo.push(() => reusedParsers.stop())
  if (hasWorkers) void foundation.startEnded.then(() => logConfinement(log))
  const embedderOf = (owner: string, hasPersonal?: boolean) => personalProviders.resolveEmbedder(owner, hasPersonal)
  // Without workers this process only enqueues jobs.
  const handlers = hasWorkers
    ? {
        ...createDocumentJobs({ database: background, blobs, log, ocrProcesses, warmParsers, reusedParsers }),
        ...createIndexJobs({ database: background }),
        ...createSpaceJobs(background),
        ...createUsageJobs(background),
        ...createEmbeddingJobs({
          database: background,
          embedderOf,
          defaultModel: embedder?.model ?? null,
          serverAddresses: serverEndpoints.map(({ baseUrl }) => baseUrl),
          log,
        }),
      }
    : {}
  const jobs = startJobs({ connection, log, handlers, after: foundation.startEnded })
  undo.push(() => jobs.stop())

  async function startWorkers() {
    // Before any answer: the endpoint may take long to list its models.
    await applyModelChoices(sharedModels)
    const queue = openDatabase({ ...connection, max: QUEUE_CONNECTIONS }, log, notifier)
    undo.push(() => queue.close())
    const worker = await startWorker({
      database: background,
      providersOf,
      embedderOf,
      viewPicture: createPictureView(blobs),
      backgroundThrottle,
      toolServers: {
        listFor: (owner) => toolServers.listConnected(owner),
        consents: createToolConsents(queue.background, listener),
      },
      listener,
      log,
      replyClaims: createReplyClaims(queue.serviceChannel, `${process.pid}@${address}`),
      replyLog: createReplyLog(queue.serviceChannel, log, deliverEarly),
      capacity: SIMULTANEOUS_REPLIES,
      documentWaitLimitMs: config.DOCUMENT_WAIT_S * 1000,
      passageTokens: config.PASSAGE_TOKENS,
      asksForOtherWords: config.OTHER_WORDS,
      usageLimits: {
        areSet: () => limitsTokens(operatorSettings),
        priceOf: createPriceTable(await readPrices(config.MODEL_PRICES)),
      },
      externalToolOptions: {
        webSearch: createWebSearch({
          provider: config.SEARCH_PROVIDER,
          url: config.SEARCH_URL,
          apiKey: config.SEARCH_API_KEY,
        }),
      },
    })
    undo.push(() => worker.stop())
    const stopping = new AbortController()
    undo.push(() => stopping.abort())
    void refreshModelsAtStart({ ...sharedModels, signal: stopping.signal })
    const gauges: Gauges = {
      alcove_index_cache_bytes: {
        help: 'Bytes of the search index that this process holds in memory.',
        read: countCachedBytes,
      },
      alcove_index_cache_hits_total: {
        help: 'Parts of the search index that were found in memory.',
        read: () => countCacheLookups().hits,
        isCounter: true,
      },
      alcove_index_cache_misses_total: {
        help: 'Parts of the search index that were read from the database.',
        read: () => countCacheLookups().misses,
        isCounter: true,
      },
      alcove_replies_running: { help: 'Answers that this process is writing.', read: () => worker.running() },
    }
    return { gauges, directDispatch: worker.directDispatch }
  }

  function createApi() {
    const browserKey = config.AUTH_SIGNUP === 'closed' ? config.OPENAI_BROWSER_KEY : undefined
    const browserAccess =
      browserKey === undefined
        ? null
        : { apiKey: browserKey, baseUrl: config.OPENAI_BASE_URL ?? DEFAULT_BASE_URLS.OpenAI }
    const elsewhere = [browserAccess?.baseUrl, config.SUPABASE_URL].flatMap((url) => (url === undefined ? [] : [url]))
    return {
      documents: createDocumentRoutes({ database, tokens, blobs, jobs, log, address, takeTurn, accessWatch }),
      api: [
        createConversationRoutes({ database }),
        createReplyRoutes({ database }),
        createSearchRoutes({ database }),
        createSpaceRoutes({
          database,
          address,
          allowsPublicLinks: config.PUBLIC_LINKS,
          background,
          jobs,
          sendInvitation: (mail) => {
            spaceMails
              .sendInvitation(mail)
              .catch((error: unknown) => log.error({ err: error }, 'an invitation to a space could not be mailed'))
          },
          sendReceipt: (mail) => {
            spaceMails
              .sendReceipt(mail)
              .catch((error: unknown) => log.error({ err: error }, 'a receipt could not be mailed'))
          },
        }),
        createChangeRoutes({ database }),
        createProviderRoutes({ personalProviders }),
        createSpaceProviderRoutes({ spaceProviders }),
        createEmbeddingsRoutes({ database, embeddingsChoices }),
        createToolServerRoutes({ database, toolServers }),
        createModelRoutes({
          database,
          providersOf,
          refresh: async (person, spaceId, signal) => {
            await Promise.all([
              refreshModels(sharedModels),
              personalProviders.refresh(person, signal),
              spaceId === null ? undefined : spaceProviders.refresh(person, spaceId, signal),
            ])
          },
        }),
        createExportRoutes({ database, blobs, log, accessWatch }),
      ],
      links: createSharedLinkRoutes({
        database,
        tokens,
        log,
        address,
        allowsPublicLinks: config.PUBLIC_LINKS,
        takeTurn,
        limitAddress: limitAddress({ requests: 120, seconds: 60, trustProxy: config.TRUST_PROXY }),
      }),
      voice: createTranscriptionRoutes({
        tokens,
        log,
        address,
        transcriber: createTranscriber({ openai, compatible, model: config.TRANSCRIPTION_MODEL }),
        browserAccess,
        takeTurn,
        accessWatch,
      }),
      page: createPageRoutes({
        builtDir: BUILT_CLIENT,
        basePath: basePathOf(address),
        connectTo: elsewhere.flatMap(originsOf),
      }),
    }
  }

  const workers = hasWorkers ? await startWorkers() : undefined
  return {
    operated: {
      embeddings: embedder?.model ?? null,
      providers: listOperatedProviders(settings),
      modelOffers: createModelOffers({
        database,
        configured: createProviders(settings).configured,
        readChoices,
        areFixed: config.OFFERED_MODELS !== undefined,
        log,
      }),
    },
    gauges: workers?.gauges ?? {},
    directDispatch: workers?.directDispatch,
    edges: config.ALCOVE_PARTS.has('api') ? createApi() : undefined,
    onDocumentUpload: ({ owner, key, open }: DocumentFile) =>
      addStoredFile({ owner, objectName: key, open }, { database, blobs, jobs, log }),
    findRoom: async (owner: string, bucket: string) => {
      const usage = await database.asUser({ role: 'authenticated', sub: owner }, readOwnUsage, { readOnly: true })
      // A file of this bucket is stored twice: as the object and as the document.
      const copies = bucket === 'documents' ? 2 : 1
      return { bytes: Math.floor(fileRoomOf(usage) / copies), message: describeFullFiles(usage) }
    },
  }
}

const openLocalModel = async ({ EMBEDDINGS_PATH: folder, EMBEDDINGS_PREFIXES: prefixes }: Foundation['config']) =>
  folder === undefined ? undefined : openLocalEmbedder(folder, prefixes)

/** EMBEDDINGS_BASE_URL takes precedence over the endpoints of the chat models. */
function embedderSettings(config: Foundation['config']): EmbedderSettings {
  const model = config.EMBEDDINGS_MODEL
  if (config.EMBEDDINGS_BASE_URL !== undefined)
    return { model, baseUrl: config.EMBEDDINGS_BASE_URL, apiKey: config.EMBEDDINGS_API_KEY }
  if (config.OPENAI_COMPATIBLE_BASE_URL !== undefined)
    return { model, baseUrl: config.OPENAI_COMPATIBLE_BASE_URL, apiKey: config.OPENAI_COMPATIBLE_API_KEY }
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl = DEFAULT_BASE_URLS.OpenAI } = config
  return { model, apiKey, baseUrl: apiKey === undefined ? undefined : baseUrl }
}

/** Endpoints of the environment whose embeddings models people may choose for their own documents. */
function listServerEndpoints(config: Foundation['config']): ServerEndpoint[] {
  const { OPENAI_COMPATIBLE_BASE_URL: baseUrl, OPENAI_COMPATIBLE_API_KEY: apiKey, OPENAI_API_KEY: openAiKey } = config
  return [
    ...(baseUrl === undefined ? [] : [{ id: 'compatible', name: 'OpenAI-compatible', baseUrl, apiKey } as const]),
    ...(openAiKey === undefined
      ? []
      : [
          {
            id: 'openai',
            name: 'OpenAI',
            baseUrl: config.OPENAI_BASE_URL ?? DEFAULT_BASE_URLS.OpenAI,
            apiKey: openAiKey,
          } as const,
        ]),
  ]
}

function describeOperatorEmbeddings(config: Foundation['config']): OperatorEmbeddings | null {
  const { model, baseUrl } = embedderSettings(config)
  if (model === undefined || baseUrl === undefined) return null
  return { key: model, model, host: new URL(baseUrl).host }
}

const originsOf = (url: string): string[] => {
  const { origin } = new URL(url)
  return [origin, origin.replace(/^http/, 'ws')]
}
