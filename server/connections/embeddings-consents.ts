/** Agreements of people that an endpoint of this server receives the texts of their documents. */
import type { Database, Scope } from '#server/database/scope.ts'

export interface EmbeddingsConsent {
  readonly address: string
  readonly model: string
}

type ConsentRow = EmbeddingsConsent & Record<string, unknown>

export async function readConsent(database: Database, owner: string): Promise<EmbeddingsConsent | undefined> {
  const { rows } = await database.serviceStatement<ConsentRow>(
    'select address, model from embeddings_consents where owner = $1',
    [owner],
  )
  return rows[0]
}

/** Replaces the person's choice, also one of a provider of theirs. Its vectors stay in use until those of this model are complete. */
export async function giveConsent(scope: Scope, { address, model }: EmbeddingsConsent): Promise<void> {
  await scope.query('update own_providers set embeddings_model = null where embeddings_model is not null')
  await scope.query('delete from embeddings_consents')
  await scope.query('insert into embeddings_consents (address, model) values ($1, $2)', [address, model])
}

/** The vectors of chosen models are deleted with the choice. */
export async function withdrawChoice(scope: Scope): Promise<void> {
  await scope.query('update own_providers set embeddings_model = null where embeddings_model is not null')
  await scope.query('delete from embeddings_consents')
}
