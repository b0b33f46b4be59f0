import type { Scope } from '#server/database/scope.ts'

/** All passages are compared by the signs of their vectors, and this many then exactly. */
const CANDIDATES_BY_SIGNS = 200

const packVector = (vector: Float32Array): Buffer => {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes
}

const signsOf = (vector: Float32Array): string => Array.from(vector, (value) => (value > 0 ? '1' : '0')).join('')

function cosine(one: Float32Array, packed: Buffer): number {
  let sum = 0
  for (const [index, value] of one.entries()) sum += value * packed.readFloatLE(index * 4)
  return sum
}

/** The model whose vectors cover most of the library; a tie goes to the configured one. Undefined without vectors. */
export async function modelInUse(scope: Scope, configured: string): Promise<string | undefined> {
  const { rows } = await scope.query<{ model: string }>(
    `select model from embedded_documents where owner = any ((select libraries_to('read'))::uuid[])
     group by model order by sum(passages) desc, model = $1 desc limit 1`,
    [configured],
  )
  return rows[0]?.model
}

export interface SimilarPassage {
  readonly segment: string
  readonly number: number
  readonly cosine: number
}

/** Most similar first. Run as the person. */
export async function findSimilarPassages(
  scope: Scope,
  {
    model,
    vector: wanted,
    documentIds,
    limit,
  }: {
    readonly model: string
    readonly vector: Float32Array
    readonly documentIds: readonly string[] | null
    readonly limit: number
  },
): Promise<SimilarPassage[]> {
  const { rows } = await scope.query<{ segment: string; number: number; vector: Buffer }>(
    `select i.segment::text, i.first_passage + v.passage as number, v.vector
     from (
       select document_id, passage, vector from passage_vectors
       where owner = any ((select libraries_to('read'))::uuid[]) and model = $1 and bit_length(signs) = $2
         and ($4::uuid[] is null or document_id = any ($4))
       order by bit_count(signs # $3::text::bit varying) limit $5
     ) as v
     join document_index i on i.document_id = v.document_id`,
    [model, wanted.length, signsOf(wanted), documentIds, CANDIDATES_BY_SIGNS],
  )
  return rows
    .map(({ segment, number, vector }) => ({ segment, number, cosine: cosine(wanted, vector) }))
    .sort((one, other) => other.cosine - one.cosine)
    .slice(0, limit)
}

export interface PassageText {
  readonly document_id: string
  readonly owner: string
  readonly passage: number
  readonly heading: string | null
  readonly start: number
  readonly end: number
  readonly page_text: string
}

/** Runs as the service. */
export async function listPassagesWithoutVector(
  scope: Scope,
  { documentId, model, limit }: { readonly documentId: string; readonly model: string; readonly limit: number },
): Promise<PassageText[]> {
  const { rows } = await scope.query<PassageText & Record<string, unknown>>(
    `select p.document_id, p.owner, p.passage, p.heading, p."start", p."end", t.text as page_text
         from passages p join document_pages t on t.document_id = p.document_id and t.page = p.page
         where p.document_id = $1 and not exists (
           select from passage_vectors v
           where v.owner = p.owner and v.model = $2 and v.document_id = p.document_id and v.passage = p.passage)
         order by p.passage limit $3`,
    [documentId, model, limit],
  )
  return rows
}

/** False if its person no longer chooses the model. Until the transaction ends, they cannot. Runs as the service. */
async function holdChoice(scope: Scope, owner: string, model: string): Promise<boolean> {
  const table = model.startsWith('endpoint:')
    ? 'own_providers'
    : model.startsWith('server:')
      ? 'embeddings_consents'
      : undefined
  if (table === undefined) return true
  const { rowCount } = await scope.query(`select from ${table} where owner = $1 and embeddings_key = $2 for share`, [
    owner,
    model,
  ])
  return rowCount === 1
}

/** Waits for transactions that index or delete the documents: they remove rows that vectors refer to. */
async function holdDocuments(scope: Scope, ids: readonly string[]): Promise<void> {
  await scope.query('select from documents where id = any ($1) order by id for key share', [ids])
}

/** Skips passages that are deleted or indexed again meanwhile. False, and none stored, for a model that is no longer chosen. Runs as the service. */
export async function insertVectors(
  scope: Scope,
  model: string,
  { passages, vectors }: { readonly passages: readonly PassageText[]; readonly vectors: readonly Float32Array[] },
): Promise<boolean> {
  for (const owner of new Set(passages.map((passage) => passage.owner)))
    if (!(await holdChoice(scope, owner, model))) return false
  await holdDocuments(scope, [...new Set(passages.map(({ document_id }) => document_id))])
  await scope.query(
    `insert into passage_vectors (owner, model, document_id, passage, signs, vector)
         select p.owner, $1, p.document_id, p.passage, given.signs::bit varying, given.vector
         from unnest($2::uuid[], $3::int[], $4::int[], $5::int[], $6::text[], $7::bytea[])
           as given (document_id, passage, "start", "end", signs, vector)
         join passages p using (document_id, passage, "start", "end")
         for key share of p
         on conflict do nothing`,
    [
      model,
      passages.map(({ document_id }) => document_id),
      passages.map(({ passage }) => passage),
      passages.map(({ start }) => start),
      passages.map(({ end }) => end),
      vectors.map(signsOf),
      vectors.map(packVector),
    ],
  )
  return true
}

/** Marks the document, unless it is being deleted, if every passage has a vector of the model. False for a model that is no longer chosen. Runs as the service. */
export async function markEmbedded(
  scope: Scope,
  { documentId, owner, model }: { readonly documentId: string; readonly owner: string; readonly model: string },
): Promise<boolean> {
  if (!(await holdChoice(scope, owner, model))) return false
  await holdDocuments(scope, [documentId])
  await insertEmbedded(scope, documentId, [model])
  return true
}

async function insertEmbedded(scope: Scope, documentId: string, models: readonly string[]): Promise<void> {
  await scope.query(
    `insert into embedded_documents (owner, model, document_id, passages)
         select i.owner, m.model, i.document_id, i.passages from document_index i, unnest($2::text[]) as m (model)
         where i.document_id = $1 and i.passages = (
           select count(*) from passage_vectors v
           where v.owner = i.owner and v.model = m.model and v.document_id = i.document_id)
         for key share of i
         on conflict do nothing`,
    [documentId, models],
  )
}

interface VectorUsage {
  readonly model: string
  readonly bytes: string
  readonly vectors: number
}

/**
 * Usage of a document by model, which is deleted with its index entry. Models that are no longer chosen are left out;
 * the others stay chosen until the transaction ends. Runs as the service.
 */
export async function readVectorUsage(
  scope: Scope,
  { id, owner }: { readonly id: string; readonly owner: string },
): Promise<VectorUsage[]> {
  const { rows: models } = await scope.query<{ model: string }>(
    'select model from vector_usage where document_id = $1 order by model',
    [id],
  )
  const chosen: string[] = []
  for (const { model } of models) if (await holdChoice(scope, owner, model)) chosen.push(model)
  const { rows } = await scope.query<VectorUsage & Record<string, unknown>>(
    `select u.model, u.bytes::text, (
       select count(*)::int from passage_vectors v
       where v.owner = u.owner and v.model = u.model and v.document_id = u.document_id) as vectors
     from vector_usage u where u.document_id = $1 and u.model = any ($2)`,
    [id, chosen],
  )
  return rows.filter(({ vectors }) => vectors > 0)
}

/** Counts the vectors that the document still has, once it has an index entry again. Runs as the service. */
export async function restoreVectorUsage(
  scope: Scope,
  documentId: string,
  usage: readonly VectorUsage[],
): Promise<void> {
  // All vectors of a model have one size.
  await scope.query(
    `insert into vector_usage (owner, model, document_id, bytes)
     select v.owner, v.model, v.document_id, given.bytes / given.vectors * count(*)
     from unnest($2::text[], $3::bigint[], $4::int[]) as given (model, bytes, vectors)
     join passage_vectors v on v.document_id = $1 and v.model = given.model
     group by v.owner, v.model, v.document_id, given.bytes, given.vectors`,
    [documentId, usage.map(({ model }) => model), usage.map(({ bytes }) => bytes), usage.map(({ vectors }) => vectors)],
  )
  await insertEmbedded(
    scope,
    documentId,
    usage.map(({ model }) => model),
  )
}

/** Deletes only once the owner's library has all vectors of this model; returns the owner. Runs as the service. */
export async function deleteOtherModels(scope: Scope, documentId: string, model: string): Promise<string | undefined> {
  const { rows } = await scope.query<{ owner: string }>(
    `select i.owner from document_index i where i.document_id = $1 and not exists (
         select from document_index other
         where other.owner = i.owner and not exists (
           select from embedded_documents e
           where e.owner = i.owner and e.model = $2 and e.document_id = other.document_id))`,
    [documentId, model],
  )
  const [complete] = rows
  if (!complete) return undefined
  await scope.query('delete from embedded_documents where owner = $1 and model <> $2', [complete.owner, model])
  await scope.query('delete from vector_usage where owner = $1 and model <> $2', [complete.owner, model])
  const { rowCount } = await scope.query('delete from passage_vectors where owner = $1 and model <> $2', [
    complete.owner,
    model,
  ])
  return rowCount === 0 ? undefined : complete.owner
}

/** Undefined once the document is gone. Runs as the service. */
export async function findOwner(scope: Scope, documentId: string): Promise<string | undefined> {
  const { rows } = await scope.query<{ owner: string }>('select owner from document_index where document_id = $1', [
    documentId,
  ])
  return rows[0]?.owner
}

/** After a failure of their model, or without room, only that person's documents wait, and only for this model. */
const failedLately = (owner: string, model: string): string => `exists (
  select from embeddings_failures f
  where f.owner = ${owner} and f.model = ${model} and f.failed_at > now() - interval '5 minutes')`

/** Runs as the service. */
export async function isPaused(scope: Scope, owner: string, model: string): Promise<boolean> {
  const { rows } = await scope.query<{ paused: boolean }>(`select ${failedLately('$1::uuid', '$2::text')} as paused`, [
    owner,
    model,
  ])
  return rows[0]?.paused === true
}

const MAX_MESSAGE = 500

export interface EmbeddingsFailure {
  readonly owner: string
  readonly model: string
  readonly message: string
}

/** Stores none of a model that is no longer chosen. Runs as the service. */
export async function storeFailure(scope: Scope, { owner, model, message }: EmbeddingsFailure): Promise<void> {
  if (!(await holdChoice(scope, owner, model))) return
  await scope.query(
    `insert into embeddings_failures as f (owner, model, message) values ($1, $2, $3)
     on conflict (owner) do update set model = excluded.model, message = excluded.message, failed_at = now()`,
    [owner, model, message.replaceAll('\0', '').slice(0, MAX_MESSAGE)],
  )
}

/** Runs as the service. */
export async function deleteFailure(scope: Scope, owner: string): Promise<void> {
  await scope.query('delete from embeddings_failures where owner = $1', [owner])
}

export interface EmbeddingProgress {
  readonly passages: number
  readonly embedded: number
  readonly failure: string | null
}

/** Run as the person. */
export async function readEmbeddingProgress(scope: Scope, model: string): Promise<EmbeddingProgress> {
  const { rows } = await scope.query<EmbeddingProgress & Record<string, unknown>>(
    `select
       (select coalesce(sum(passages), 0)::int from document_index where owner = any ((select libraries_to('read'))::uuid[])) as passages,
       (select count(*)::int from passage_vectors where owner = any ((select libraries_to('read'))::uuid[]) and model = $1) as embedded,
       (select message from embeddings_failures where owner = (select auth.uid()) and model = $1) as failure`,
    [model],
  )
  return rows[0] ?? { passages: 0, embedded: 0, failure: null }
}

export interface ModelsInUse {
  /** The operator's, of people who chose none of a provider of their own. */
  readonly defaultModel: string | null
  /** Addresses of the server that people may have agreed to; none where the operator has set a model. */
  readonly serverAddresses: readonly string[]
}

/** Runs as the service. */
export async function listDocumentsToEmbed(
  scope: Scope,
  { defaultModel, serverAddresses, limit }: ModelsInUse & { readonly limit: number },
): Promise<string[]> {
  const { rows } = await scope.query<{ document_id: string }>(
    `with disabled as (
               select o.owner from (select distinct owner from document_index) as o where is_disabled(o.owner)
             )
             select document_id from (
               select i.document_id, row_number() over (partition by i.owner) as nth
               from document_index i
               left join own_providers o on o.owner = i.owner and o.embeddings_key is not null
               left join embeddings_consents c on c.owner = i.owner and c.address = any ($3)
               cross join lateral (select coalesce(o.embeddings_key, $1, c.embeddings_key) as model) as wanted
               where wanted.model is not null and i.owner not in (select owner from disabled)
                 and not ${failedLately('i.owner', 'wanted.model')} and not exists (
                 select from embedded_documents e
                 where e.owner = i.owner and e.model = wanted.model and e.document_id = i.document_id)
             ) as due order by nth limit $2`,
    [defaultModel, limit, serverAddresses],
  )
  return rows.map(({ document_id }) => document_id)
}
