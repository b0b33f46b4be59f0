/**
 * Gives the passages of every document vectors in the background, of the model that their owner chose or else the operator
 * configured, and drops those of others after.
 */
import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { type Database, type Scope } from '#server/database/scope.ts'
import { type JobHandlers } from '#server/jobs/handler.ts'
import { type Embedder } from '#server/providers/embed.ts'
import { packVector, signsOf } from './vector-store.ts'

const EMBED_JOB = 'documents.embed'
const BATCH_PASSAGES = 32
const TIMEOUT_MS = 60_000
const DUE_AT_ONCE = 200
/** A provider that failed is left alone for so long, so that nobody waits for that of somebody else. */
const PAUSE_MS = 300_000

const embedJob = z.object({ documentId: z.uuid() })

interface PassageText {
  document_id: string
  owner: string
  passage: number
  heading: string | null
  start: number
  end: number
  page_text: string
}

/** To be handed to `startJobs`. A provider that fails is asked again with the job's next tries, and by `findWork` after those. */
export function createEmbeddingJobs({
  database,
  embedderOf,
  everyonesModel = null,
  log,
}: {
  readonly database: Database
  /** Null: nobody gives that person's passages vectors. */
  readonly embedderOf: (owner: string) => Promise<Embedder | null>
  /** The operator's; null where none is configured. */
  readonly everyonesModel?: string | null | undefined
  readonly log: Log
}): JobHandlers {
  const pausedUntil = new Map<string, number>()
  const isPaused = (owner: string) => (pausedUntil.get(owner) ?? 0) > Date.now()

  async function ownerOf(documentId: string): Promise<string | undefined> {
    const { rows } = await database.asService((scope) =>
      scope.query<{ owner: string }>('select owner from document_index where document_id = $1', [documentId]),
    )
    return rows[0]?.owner
  }

  const nextBatch = (documentId: string, model: string) =>
    database.asService((scope) =>
      scope.query<PassageText>(
        `select p.document_id, p.owner, p.passage, p.heading, p."start", p."end", t.text as page_text
         from passages p join document_pages t on t.document_id = p.document_id and t.page = p.page
         where p.document_id = $1 and not exists (
           select from passage_vectors v
           where v.owner = p.owner and v.model = $2 and v.document_id = p.document_id and v.passage = p.passage)
         order by p.passage limit $3`,
        [documentId, model, BATCH_PASSAGES],
      ),
    )

  /** Passages that were indexed anew meanwhile are left to the next run. */
  const storeBatch = (model: string, batch: readonly PassageText[], found: readonly Float32Array[]) =>
    database.asService((scope) =>
      scope.query(
        `insert into passage_vectors (owner, model, document_id, passage, signs, vector)
         select p.owner, $1, p.document_id, p.passage, given.signs::bit varying, given.vector
         from unnest($2::uuid[], $3::int[], $4::int[], $5::int[], $6::text[], $7::bytea[])
           as given (document_id, passage, "start", "end", signs, vector)
         join passages p using (document_id, passage, "start", "end")
         on conflict do nothing`,
        [
          model,
          batch.map(({ document_id }) => document_id),
          batch.map(({ passage }) => passage),
          batch.map(({ start }) => start),
          batch.map(({ end }) => end),
          found.map(signsOf),
          found.map(packVector),
        ],
      ),
    )

  async function embedDocument(documentId: string, signal: AbortSignal): Promise<void> {
    const owner = await ownerOf(documentId)
    if (owner === undefined || isPaused(owner)) return
    const embedder = await embedderOf(owner)
    if (!embedder) return
    try {
      await embedWith(embedder, documentId, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof AppError || error instanceof DOMException) pausedUntil.set(owner, Date.now() + PAUSE_MS)
      throw error
    }
  }

  async function embedWith(embedder: Embedder, documentId: string, signal: AbortSignal): Promise<void> {
    const { model } = embedder
    for (;;) {
      const { rows: batch } = await nextBatch(documentId, model)
      if (batch.length === 0) break
      const texts = batch.map(({ heading, page_text, start, end }) =>
        [heading, page_text.slice(start, end)].filter((part) => part !== null).join('\n'),
      )
      const ended = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
      await storeBatch(model, batch, await embedder.embed(texts, { signal: ended }))
    }
    await database.asService(async (scope) => {
      await scope.query(
        `insert into embedded_documents (owner, model, document_id, passages)
         select i.owner, $2, i.document_id, i.passages from document_index i
         where i.document_id = $1 and i.passages = (
           select count(*) from passage_vectors v
           where v.owner = i.owner and v.model = $2 and v.document_id = i.document_id)
         on conflict do nothing`,
        [documentId, model],
      )
      await dropOthers(scope, documentId, model)
    })
  }

  /** Once the owner's whole library has vectors of the model, those of other models are of no more use. */
  async function dropOthers(scope: Scope, documentId: string, model: string) {
    const { rows } = await scope.query<{ owner: string }>(
      `select i.owner from document_index i where i.document_id = $1 and not exists (
         select from documents d join document_index other on other.document_id = d.id
         where d.owner = i.owner and not exists (
           select from embedded_documents e
           where e.owner = i.owner and e.model = $2 and e.document_id = other.document_id))`,
      [documentId, model],
    )
    const [whole] = rows
    if (!whole) return
    await scope.query('delete from embedded_documents where owner = $1 and model <> $2', [whole.owner, model])
    const { rowCount } = await scope.query('delete from passage_vectors where owner = $1 and model <> $2', [
      whole.owner,
      model,
    ])
    if (rowCount !== 0) log.info({ owner: whole.owner, model }, 'the library has vectors of the new model')
  }

  return {
    [EMBED_JOB]: {
      concurrency: 1,
      expireInSeconds: 3_600,
      run: (data, { signal }) => embedDocument(embedJob.parse(data).documentId, signal),
      async findWork() {
        const { rows } = await database.asService((scope) =>
          scope.query<{ document_id: string }>(
            // Some of each owner's, so that a library which cannot be embedded now holds up no other.
            `select document_id from (
               select i.document_id, row_number() over (partition by i.owner) as nth
               from document_index i
               left join own_providers o on o.owner = i.owner and o.embeddings_key is not null
               where coalesce(o.embeddings_key, $1) is not null and i.owner <> all ($3) and not exists (
                 select from embedded_documents e
                 where e.owner = i.owner and e.model = coalesce(o.embeddings_key, $1) and e.document_id = i.document_id)
             ) as due order by nth limit $2`,
            [everyonesModel, DUE_AT_ONCE, [...pausedUntil.keys()].filter(isPaused)],
          ),
        )
        return rows.map(({ document_id }) => ({ key: document_id, data: { documentId: document_id } }))
      },
    },
  }
}
