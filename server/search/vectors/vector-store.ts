/** Vectors of passages: how they are packed, stored and searched. */
import { type Scope } from '#server/database/scope.ts'

/** Compared with all of a person's passages by their signs, exactly with so many. */
const NEAREST_BY_SIGNS = 200

export const packVector = (vector: Float32Array): Buffer => {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes
}

/** As PostgreSQL writes a `bit varying`. */
export const signsOf = (vector: Float32Array): string => Array.from(vector, (value) => (value > 0 ? '1' : '0')).join('')

function cosine(one: Float32Array, packed: Buffer): number {
  let sum = 0
  for (const [index, value] of one.entries()) sum += value * packed.readFloatLE(index * 4)
  return sum
}

/**
 * The model whose vectors cover most of the library: a newly configured one takes over once it covers as much as the one
 * before. Undefined where there are no vectors at all.
 */
export async function modelInUse(scope: Scope, configured: string): Promise<string | undefined> {
  const { rows } = await scope.query<{ model: string }>(
    `select model from embedded_documents where owner = (select auth.uid())
     group by model order by sum(passages) desc, model = $1 desc limit 1`,
    [configured],
  )
  return rows[0]?.model
}

export interface NearPassage {
  readonly segment: string
  /** In its segment. */
  readonly number: number
  readonly cosine: number
}

/** The passages nearest in meaning, nearest first, exact among the owner's. Run as the person. */
export async function nearestPassages(
  scope: Scope,
  model: string,
  asked: Float32Array,
  documentIds: readonly string[] | null,
  limit: number,
): Promise<NearPassage[]> {
  const { rows } = await scope.query<{ segment: string; number: number; vector: Buffer }>(
    `select i.segment::text, i.first_passage + v.passage as number, v.vector
     from (
       select document_id, passage, vector from passage_vectors
       where owner = (select auth.uid()) and model = $1 and bit_length(signs) = $2
         and ($4::uuid[] is null or document_id = any ($4))
       order by bit_count(signs # $3::text::bit varying) limit $5
     ) as v
     join document_index i on i.document_id = v.document_id`,
    [model, asked.length, signsOf(asked), documentIds, NEAREST_BY_SIGNS],
  )
  return rows
    .map(({ segment, number, vector }) => ({ segment, number, cosine: cosine(asked, vector) }))
    .sort((one, other) => other.cosine - one.cosine)
    .slice(0, limit)
}
