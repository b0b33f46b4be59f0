/** The four services of the official clients, independent of the tables of the product. */
import { acceptSharedSecret } from '#server/access/other-issuers.ts'
import type { Tokens } from '#server/access/tokens.ts'
import { createMailbox } from '#server/auth/mail/mailbox.ts'
import { createMail } from '#server/auth/mail/send.ts'
import { createMailboxRoutes } from '#server/auth/mailbox-routes.ts'
import { readProviderSettings } from '#server/auth/providers/registry.ts'
import { createAuthRoutes } from '#server/auth/routes.ts'
import { createAuthService, type DeleteAccountData } from '#server/auth/service.ts'
import { sendSpaceInvitation, type SpaceInvitation } from '#server/auth/space-invitations.ts'
import { sendSpaceReceipt } from '#server/auth/space-receipts.ts'
import { sweepAuth, sweepBuckets } from '#server/auth/sweep.ts'
import { ensureTestAccount, withdrawTestAccount } from '#server/auth/test-account.ts'
import { repeat } from '#server/base/repeat.ts'
import type { DirectDispatch } from '#server/database/direct-dispatch.ts'
import { BLOB_SWEEP_INTERVAL_MS, reportSweep } from '#server/documents/ingest/blob-cleanup.ts'
import { createRealtime } from '#server/realtime/service.ts'
import { createRestRoutes } from '#server/rest/routes.ts'
import { createSchemaCache } from '#server/rest/schema-cache.ts'
import { removeDiscardedBytes } from '#server/storage/discarded-bytes.ts'
import { createStorageRoutes, type StorageOptions } from '#server/storage/routes.ts'
import type { Foundation } from './foundation.ts'
import { readSamlProviders } from './saml-providers.ts'

const SWEEP_INTERVAL_MS = 3_600_000
const BUCKET_SWEEP_INTERVAL_MS = 60_000

/** Hooks of the product; undefined without it. */
interface ServiceHooks {
  readonly closing: DeleteAccountData | undefined
  /** Undefined where the database is not ours to vacuum. */
  readonly reclaimDeleted: (() => void) | undefined
  readonly onDocumentUpload: StorageOptions['onDocumentUpload']
  readonly findRoom: StorageOptions['findRoom']
  /** Dispatches work of rows that are inserted through `/rest/v1`. */
  readonly directDispatch: DirectDispatch | undefined
  /** Reads AUTH_SIGNUP, which an operator may change while the server runs. */
  readonly readSignup: () => Foundation['config']['AUTH_SIGNUP']
}

/** @param signing signs the tokens that `foundation.tokens` accepts. */
export async function startServices(
  foundation: Foundation,
  signing: Tokens,
  { closing, reclaimDeleted, onDocumentUpload, findRoom, directDispatch, readSignup }: ServiceHooks,
) {
  const {
    config,
    log,
    undo,
    address,
    database,
    background,
    batchReader,
    listener,
    tokens,
    takeTurn,
    accessWatch,
    blobs,
    encryptionKey,
  } = foundation
  const isLocal = config.isLocalSetUp
  // The page offers the test account, so servers without the page have none.
  const hasTestAccount = isLocal && config.ALCOVE_PARTS.has('api')
  if (!hasTestAccount) await withdrawTestAccount({ database })
  const testAccount = hasTestAccount ? await ensureTestAccount({ database, seed: encryptionKey }) : null
  const mail = createMail({
    smtpUrl: config.SMTP_URL,
    from: config.MAIL_FROM,
    mailbox: isLocal ? createMailbox(database) : null,
    log,
  })
  const realtime = await createRealtime({
    database,
    background,
    batchReader,
    listener,
    tokens,
    log,
    trustProxy: config.TRUST_PROXY,
    takeTurn,
    allowsPublicChannels:
      (config.REALTIME_PUBLIC ?? (config.ALCOVE_PARTS.has('api') ? 'refuse' : 'accept')) === 'accept',
  })
  undo.push(() => realtime.close())

  const sweep = () => {
    sweepAuth(background, {
      sessionDays: config.AUTH_SESSION_DAYS,
      sessionIdleDays: config.AUTH_SESSION_IDLE_DAYS,
    }).catch((error: unknown) => log.warn({ err: error }, 'expired codes and tokens were not removed'))
    removeDiscardedBytes(background, blobs).catch((error: unknown) =>
      log.warn({ err: error }, 'bytes of removed objects were not discarded'),
    )
  }
  const sweepRateLimits = () => {
    sweepBuckets(database).catch((error: unknown) => log.warn({ err: error }, 'full rate limits were not removed'))
  }
  const sweeping = [repeat(sweep, SWEEP_INTERVAL_MS), repeat(sweepRateLimits, BUCKET_SWEEP_INTERVAL_MS)]
  sweep()
  // Where workers run in this process, a job of theirs does it.
  if (!config.ALCOVE_PARTS.has('workers')) {
    const sweepUnnamed = () => {
      reportSweep({ database: background, blobs, log }).catch((error: unknown) =>
        log.warn({ err: error }, 'bytes that no row names were not removed'),
      )
    }
    sweeping.push(repeat(sweepUnnamed, BLOB_SWEEP_INTERVAL_MS))
    sweepUnnamed()
  }
  undo.push(() => {
    for (const timer of sweeping) clearInterval(timer)
  })

  const onAccountClosing: DeleteAccountData = async (userId) => {
    const beyondRows = await closing?.(userId)
    return {
      counts: beyondRows?.counts ?? {},
      async finish() {
        await beyondRows?.finish()
        await removeDiscardedBytes(database, blobs)
        reclaimDeleted?.()
        // The sign-in page continues to offer the test account, so create it again.
        if (isLocal) await ensureTestAccount({ database, seed: encryptionKey })
      },
    }
  }

  const authService = createAuthService({
    database,
    background,
    tokens: { ...signing, ...acceptSharedSecret(signing, config.JWT_SECRET) },
    mail,
    log,
    refreshKey: encryptionKey,
    onAccountClosing,
    settings: {
      siteUrl: address,
      redirectAllowList: config.AUTH_REDIRECT_URLS,
      providers: readProviderSettings(config),
      samlProviders: await readSamlProviders(config.AUTH_SAML_PROVIDERS),
      smsWebhook:
        config.AUTH_SMS_WEBHOOK === undefined
          ? undefined
          : { address: config.AUTH_SMS_WEBHOOK, secret: config.AUTH_SMS_WEBHOOK_SECRET ?? '' },
      get signup() {
        return readSignup()
      },
      autoconfirm: config.AUTH_AUTOCONFIRM,
      signupRevealsAccounts: config.AUTH_SIGNUP_REVEALS_ACCOUNTS,
      anonymous: config.AUTH_ANONYMOUS,
      manualLinking: config.AUTH_MANUAL_LINKING,
      passwordNeedsNonce: config.AUTH_PASSWORD_NONCE,
      sessionDays: config.AUTH_SESSION_DAYS,
      sessionIdleDays: config.AUTH_SESSION_IDLE_DAYS,
      minPasswordLength: config.AUTH_MIN_PASSWORD_LENGTH,
      commonPasswords: config.AUTH_COMMON_PASSWORDS ?? (config.ALCOVE_PARTS.has('api') ? 'refuse' : 'accept'),
      mailIntervalS: config.AUTH_MAIL_INTERVAL_S,
      rateLimits: config.RATE_LIMITS,
      trustProxy: config.TRUST_PROXY,
      secureCookies: address.startsWith('https:'),
    },
  })

  return {
    testAccount,
    authService,
    hasMailbox: isLocal && config.SMTP_URL === undefined,
    spaceMails: {
      sendInvitation: (invitation: SpaceInvitation) => sendSpaceInvitation(authService, invitation),
      sendReceipt: (receipt: Parameters<typeof sendSpaceReceipt>[1]) => sendSpaceReceipt(authService, receipt),
    },
    handleUpgrade: realtime.handleUpgrade,
    deliverEarly: realtime.deliverEarly,
    gauges: {
      alcove_realtime_sockets: { help: 'Open realtime connections.', read: () => realtime.stats().sockets },
    },
    edges: {
      auth: createAuthRoutes(authService, { takeTurn, catchUp: () => listener.catchUp() }),
      rest: createRestRoutes({
        database,
        tokens,
        schemaCache: createSchemaCache({ database: background, listener, schemas: config.REST_SCHEMAS, log }),
        log,
        schemas: config.REST_SCHEMAS,
        directDispatch,
        bounds: { maxRows: config.REST_MAX_ROWS || undefined, maxBytes: config.REST_MAX_ANSWER_MB * 1024 * 1024 },
        allowsRollback: config.REST_TX_END === 'allow-override',
        takeTurn,
      }),
      realtime: realtime.routes,
      storage: createStorageRoutes({
        database,
        background,
        tokens,
        accessWatch,
        blobs,
        log,
        signingKey: encryptionKey,
        onDocumentUpload,
        findRoom,
        takeTurn,
      }),
      mailbox: createMailboxRoutes({ database, isLocalSetUp: isLocal }),
    },
  }
}
