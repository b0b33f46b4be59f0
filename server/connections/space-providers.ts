/** Keys and endpoints that owners put into a space, for the questions that its members ask there. No answer contains a key. */
import type { SpaceProvider } from '#contract/space.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { listModels } from '#server/providers/list-models.ts'
import type { PersonalEndpoint, ProviderSettings } from '#server/providers/provider-registry.ts'
import {
  createProviderEncryption,
  type EncryptedProvider,
  type NewProvider,
  requireFreeName,
  type StoredProvider,
} from './encrypted-providers.ts'
import { storeListedModels } from './models.ts'
import { toCatalogue } from './personal-provider-store.ts'

type Person = Claims & { readonly sub: string }

export interface SpaceKeys {
  readonly keys: { readonly anthropic?: string | undefined; readonly openai?: string | undefined }
  readonly endpoints: readonly PersonalEndpoint[]
}

export interface SpaceProviders {
  /** Owners get all, other members those that they put in. @throws AppError `not_found`, or `forbidden` without any */
  list(person: Person, spaceId: string): Promise<SpaceProvider[]>
  /** Tests, then stores or replaces by name. @throws AppError as `list` and `listModels` do; `conflict` if too many */
  connect(person: Person, spaceId: string, given: NewProvider, signal: AbortSignal): Promise<SpaceProvider>
  /** Also removes its key and models. @throws AppError `not_found`, `forbidden` */
  disconnect(person: Person, spaceId: string, id: string): Promise<void>
  /** Lists the models of its endpoints again; nothing for who may not ask there. @throws AppError of the first that fails */
  refresh(person: Person, spaceId: string, signal: AbortSignal): Promise<void>
  /** Undefined without any, and for who may not ask in the space: former members, and all once it is archived. */
  keysOf(asker: string, spaceId: string): Promise<SpaceKeys | undefined>
}

interface SpaceProvidersOptions {
  readonly database: Database
  /** 32 bytes, specific to the installation. */
  readonly encryptionKey: Buffer
  readonly settings: ProviderSettings
  readonly guardedFetch: typeof fetch
  readonly log: Log
}

const COLUMNS = `id, space_id, kind, name, base_url, to_jsonb(created_at) #>> '{}' as created_at`

async function requireOwner(scope: Scope, spaceId: string): Promise<void> {
  const { rows } = await scope.query<{ owns: boolean }>(
    `select id = any (spaces_to('own')) as owns from spaces where id = $1`,
    [spaceId],
  )
  if (!rows[0]) throw new AppError('not_found', 'There is no such space.')
  if (!rows[0].owns) throw new AppError('forbidden', 'Only owners see and change the keys of a space.')
}

async function replaceProvider(
  scope: Scope,
  spaceId: string,
  { kind, name, baseUrl, sealedKey }: EncryptedProvider,
): Promise<SpaceProvider> {
  await requireOwner(scope, spaceId)
  const { rows: replaced } = await scope.query<{ id: string; base_url: string | null }>(
    'delete from space_providers where space_id = $1 and name = $2 returning id, base_url',
    [spaceId, name],
  )
  // Conversations go on with the models of the same address.
  const renewed = replaced.find((row) => row.base_url === baseUrl)
  const { rows } = await scope.query<SpaceProvider & Record<string, unknown>>(
    `insert into space_providers (space_id, kind, name, base_url, sealed_key, id)
     values ($1, $2, $3, $4, $5, coalesce($6, gen_random_uuid())) returning ${COLUMNS}`,
    [spaceId, kind, name, baseUrl, sealedKey, renewed?.id],
  )
  const [row] = rows
  if (!row) throw new AppError('unavailable', 'The provider could not be stored. Try again.')
  return row
}

export function createSpaceProviders(options: SpaceProvidersOptions): SpaceProviders {
  const { database } = options
  const encryption = createProviderEncryption('keys of spaces', options)

  const readStored = async (asker: string, spaceId: string): Promise<StoredProvider[]> => {
    const { rows } = await database.serviceStatement<StoredProvider & Record<string, unknown>>(
      `select p.id, p.kind, p.name, p.base_url, p.sealed_key from space_providers p
       join spaces s on s.id = p.space_id join space_members m on m.space_id = p.space_id
       where p.space_id = $1 and m.user_id = $2 and s.archived_at is null order by p.created_at, p.id`,
      [spaceId, asker],
    )
    return rows
  }

  const storeModels = (
    spaceId: string,
    { id, name }: { id: string; name: string },
    models: Parameters<typeof toCatalogue>[1],
  ) =>
    database.asService(async (scope) => {
      // It may have been taken out while its models were listed.
      const { rowCount } = await scope.query('select from space_providers where id = $1 for key share', [id])
      if (rowCount === 0) return
      await storeListedModels(scope, toCatalogue(id, models), { provider: name, spaceId, spaceProvider: id })
    })

  return {
    list: (person, spaceId) =>
      database.asUser(person, async (scope) => {
        const { rows } = await scope.query<SpaceProvider & Record<string, unknown>>(
          `select ${COLUMNS} from space_providers where space_id = $1 order by created_at, id`,
          [spaceId],
        )
        // Former owners see those that they have put in.
        if (rows.length === 0) await requireOwner(scope, spaceId)
        return rows
      }),

    async connect(person, spaceId, given, signal) {
      requireFreeName(given)
      // Before anything is sent to an address that the person names.
      await database.asUser(person, (scope) => requireOwner(scope, spaceId))
      const models = await listModels(encryption.toEndpoint(given), signal)
      const row = await database.asUser(person, (scope) =>
        replaceProvider(scope, spaceId, encryption.encrypt(spaceId, given)),
      )
      if (row.kind === 'compatible') await storeModels(spaceId, row, models)
      return row
    },

    disconnect: (person, spaceId, id) =>
      database.asUser(person, async (scope) => {
        const { rowCount } = await scope.query('delete from space_providers where id = $1 and space_id = $2', [
          id,
          spaceId,
        ])
        if (rowCount !== 0) return
        await requireOwner(scope, spaceId)
        throw new AppError('not_found', 'There is no such provider.')
      }),

    async refresh(person, spaceId, signal) {
      const endpoints = (await readStored(person.sub, spaceId)).flatMap((row) =>
        encryption.toPersonalEndpoints(spaceId, row),
      )
      await Promise.all(
        endpoints.map(async (endpoint) =>
          storeModels(spaceId, endpoint, await listModels({ protocol: 'openai', ...endpoint }, signal)),
        ),
      )
    },

    async keysOf(asker, spaceId) {
      const rows = await readStored(asker, spaceId)
      if (rows.length === 0) return undefined
      const keyOf = (kind: StoredProvider['kind']) => {
        const row = rows.find((candidate) => candidate.kind === kind)
        return row && encryption.decryptKey(spaceId, row)
      }
      return {
        keys: { anthropic: keyOf('anthropic'), openai: keyOf('openai') },
        endpoints: rows.flatMap((row) => encryption.toPersonalEndpoints(spaceId, row)),
      }
    },
  }
}
