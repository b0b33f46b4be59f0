/** `/bucket`: rows of `storage.buckets`, read and written as the caller's role. */
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { validate } from '#server/base/validate.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import { parseSizeLimit, requireMimePatterns } from './bucket-limits.ts'
import { asCaller, readRequest, verifyCaller } from './caller.ts'
import { StorageError } from './errors.ts'
import { readJson } from './json-body.ts'
import { requireBucketName } from './names.ts'

interface BucketRouteOptions {
  readonly database: Database
  readonly tokens: TokenVerifier
  readonly maxObjectBytes: number
  readonly onDiscarded: () => void
}

const COLUMNS = 'id, name, owner, public, type, file_size_limit, allowed_mime_types, created_at, updated_at'

const bucketLimitsSchema = z.object({
  public: z.boolean().nullish(),
  file_size_limit: z.union([z.number(), z.string()]).nullish(),
  allowed_mime_types: z.array(z.string()).nullish(),
})
const newBucketSchema = bucketLimitsSchema.extend({
  name: z.string(),
  id: z.string().optional(),
  type: z.string().optional(),
})
const listQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
  offset: z.coerce.number().int().nonnegative().default(0),
  sortColumn: z.enum(['id', 'name', 'created_at', 'updated_at']).default('id'),
  sortOrder: z.enum(['asc', 'desc']).default('asc'),
  search: z.string().default(''),
})

async function requireBucket(scope: Scope, id: string): Promise<Record<string, unknown>> {
  const { rows } = await scope.query(`select ${COLUMNS} from storage.buckets where id = $1`, [id])
  if (!rows[0]) throw new StorageError('NoSuchBucket')
  return rows[0]
}

export function createBucketRoutes({ database, tokens, maxObjectBytes, onDiscarded }: BucketRouteOptions): Hono {
  const routes = new Hono()

  /** Undefined keeps the current value, null removes the limit. */
  function readLimits({
    file_size_limit: size,
    allowed_mime_types: types,
    public: isPublic,
  }: z.output<typeof bucketLimitsSchema>) {
    const bytes = size == null ? size : parseSizeLimit(size)
    if (bytes != null && bytes > maxObjectBytes) throw new StorageError('EntityTooLarge')
    if (types) requireMimePatterns(types)
    return { isPublic: isPublic ?? undefined, bytes, types }
  }

  async function withBucket<T>(
    context: Context,
    run: (scope: Scope, id: string) => Promise<T>,
    options?: { readOnly: boolean },
  ): Promise<T> {
    const id = context.req.param('id') ?? ''
    const claims = await verifyCaller(context, tokens)
    return asCaller(database, claims, (scope) => run(scope, id), options)
  }

  routes.post('/', async (context) => {
    const { claims, request } = await readRequest(context, tokens, newBucketSchema)
    const { name, id = name, type = 'STANDARD', ...limits } = request
    requireBucketName(name)
    requireBucketName(id)
    if (type !== 'STANDARD') throw new StorageError('FeatureNotEnabled', `Buckets of type ${type} are not enabled`)
    const { isPublic = false, bytes = null, types = null } = readLimits(limits)
    await asCaller(database, claims, (scope) =>
      scope.query(
        `insert into storage.buckets (id, name, owner, owner_id, public, file_size_limit, allowed_mime_types)
         values ($1, $2, $3::uuid, $3::uuid::text, $4, $5, $6)`,
        [id, name, claims.sub ?? null, isPublic, bytes, types],
      ),
    ).catch((error: unknown) => {
      throw error instanceof Error && 'code' in error && error.code === '23505'
        ? new StorageError('BucketAlreadyExists', undefined, { cause: error })
        : error
    })
    return context.json({ name })
  })

  routes.get('/', async (context) => {
    const claims = await verifyCaller(context, tokens)
    const { limit, offset, sortColumn, sortOrder, search } = validate(listQuerySchema, context.req.query())
    const { rows } = await asCaller(
      database,
      claims,
      (scope) =>
        scope.query(
          `select ${COLUMNS} from storage.buckets where strpos(lower(name), lower($1)) > 0
           order by ${sortColumn} ${sortOrder}, id limit $2 offset $3`,
          [search, limit, offset],
        ),
      { readOnly: true },
    )
    return context.json(rows)
  })

  routes.get('/:id', async (context) => context.json(await withBucket(context, requireBucket, { readOnly: true })))

  routes.put('/:id', async (context) => {
    const { isPublic, bytes, types } = readLimits(validate(bucketLimitsSchema, await readJson(context)))
    const { rowCount } = await withBucket(context, (scope, id) =>
      scope.query(
        `update storage.buckets set public = coalesce($2, public), updated_at = now(),
           file_size_limit = case when $3 then $4 else file_size_limit end,
           allowed_mime_types = case when $5 then $6 else allowed_mime_types end
         where id = $1`,
        [id, isPublic ?? null, bytes !== undefined, bytes ?? null, types !== undefined, types ?? null],
      ),
    )
    if (rowCount === 0) throw new StorageError('NoSuchBucket')
    return context.json({ message: 'Successfully updated' })
  })

  routes.post('/:id/empty', async (context) => {
    await withBucket(context, async (scope, id) => {
      await requireBucket(scope, id)
      await scope.query('delete from storage.objects where bucket_id = $1', [id])
    })
    onDiscarded()
    return context.json({ message: 'Empty bucket has been queued. Completion may take up to an hour.' })
  })

  routes.delete('/:id', async (context) => {
    const { rowCount } = await withBucket(context, (scope, id) =>
      scope.query('delete from storage.buckets where id = $1', [id]),
    )
    if (rowCount === 0) throw new StorageError('NoSuchBucket')
    return context.json({ message: 'Successfully deleted' })
  })

  return routes
}
