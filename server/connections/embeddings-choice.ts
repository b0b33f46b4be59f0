/** Search by meaning of one person: which model does it, which ones connected endpoints offer, choosing and ending it. */
import type { ChosenEmbeddings, EmbeddingsChoice, EmbeddingsOffer, EmbeddingsOffers } from '#contract/embeddings.ts'
import { AppError, messageOf } from '#server/base/errors.ts'
import type { Claims, Database } from '#server/database/scope.ts'
import { listEmbeddingModels } from '#server/providers/list-embedding-models.ts'
import { giveConsent, readConsent, withdrawChoice } from './embeddings-consents.ts'
import {
  createEndpointEmbedder,
  type EmbeddingsEndpoint,
  type ServerEndpoint,
  serverKeyPrefix,
} from './personal-embedders.ts'
import { type PersonalProviders, testEmbeddings } from './personal-providers.ts'

type Person = Claims & { readonly sub: string }

/** The operator's model, which searches the documents of everybody who chose none of their own provider. */
export interface OperatorEmbeddings {
  readonly key: string
  readonly model: string
  /** Null: the model runs in this server. */
  readonly host: string | null
}

export interface EmbeddingsInUse extends Pick<
  ChosenEmbeddings,
  'source' | 'provider' | 'provider_name' | 'model' | 'host' | 'available'
> {
  /** Its vectors are stored under this name. */
  readonly key: string
}

export interface EmbeddingsChoices {
  read(person: Person): Promise<EmbeddingsInUse | null>
  /** Asks every endpoint; one that fails becomes a sentence. Empty where the operator has set a model. */
  listOffers(person: Person, signal: AbortSignal): Promise<EmbeddingsOffers>
  /** Tests the model first. @throws AppError `not_found`, `conflict` if the host is another, `unavailable`. */
  choose(person: Person, choice: EmbeddingsChoice, signal: AbortSignal): Promise<void>
  /** Ends any choice, and deletes its vectors. */
  stop(person: Person): Promise<void>
}

interface EmbeddingsChoicesOptions {
  readonly database: Database
  readonly personalProviders: PersonalProviders
  readonly serverEndpoints: readonly ServerEndpoint[]
  readonly operator: OperatorEmbeddings | null
}

type Listed = ServerEndpoint | EmbeddingsEndpoint

const hostOf = (address: string): string => new URL(address).host

export function createEmbeddingsChoices(options: EmbeddingsChoicesOptions): EmbeddingsChoices {
  const { database, personalProviders, serverEndpoints, operator } = options

  async function offerOf(endpoint: Listed, signal: AbortSignal): Promise<EmbeddingsOffer[]> {
    const { id, name, baseUrl, apiKey, fetch } = endpoint
    const models = await listEmbeddingModels(
      { protocol: 'openai', name, baseUrl, apiKey, ...(fetch === undefined ? {} : { fetch }) },
      signal,
    )
    const [first, ...others] = models
    if (first === undefined) return []
    return [{ provider: id, provider_name: name, host: hostOf(baseUrl), models: [first, ...others] }]
  }

  /** Endpoints of the person, and those of the server unless the person has the same with a key of their own. */
  async function listEndpoints(person: Person): Promise<Listed[]> {
    const personal = await personalProviders.listEmbeddingsEndpoints(person.sub)
    const names = new Set(personal.map(({ name }) => name))
    return [...personal, ...(operator ? [] : serverEndpoints.filter(({ name }) => !names.has(name)))]
  }

  return {
    async read(person) {
      const [personal, consent] = await Promise.all([
        personalProviders.listEmbeddingsEndpoints(person.sub),
        readConsent(database, person.sub),
      ])
      const own = personal.find(({ model }) => model !== null)
      if (own?.model != null) {
        const { id, name, baseUrl, model, keyPrefix } = own
        const host = hostOf(baseUrl)
        return {
          source: 'own',
          provider: id,
          provider_name: name,
          model,
          host,
          available: true,
          key: keyPrefix + model,
        }
      }
      if (operator) {
        const { key, model, host } = operator
        return { source: 'operator', provider: null, provider_name: 'this server', model, host, available: true, key }
      }
      if (consent === undefined) return null
      const { address, model } = consent
      const endpoint = serverEndpoints.find(({ baseUrl }) => baseUrl === address)
      return {
        source: 'server',
        provider: endpoint?.id ?? null,
        provider_name: endpoint?.name ?? hostOf(address),
        model,
        host: hostOf(address),
        available: endpoint !== undefined,
        key: serverKeyPrefix(address) + model,
      }
    },

    async listOffers(person, signal) {
      if (operator) return { offers: [], failures: [] }
      const endpoints = await listEndpoints(person)
      const asked = await Promise.allSettled(endpoints.map((endpoint) => offerOf(endpoint, signal)))
      signal.throwIfAborted()
      const unexpected = asked.find((one) => one.status === 'rejected' && !(one.reason instanceof AppError))
      if (unexpected?.status === 'rejected') throw unexpected.reason
      return {
        offers: asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])),
        failures: asked.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : [])),
      }
    },

    async choose(person, { provider, model, host }, signal) {
      const endpoint = (await listEndpoints(person)).find(({ id }) => id === provider)
      if (!endpoint) throw new AppError('not_found', 'There is no such provider.')
      if (hostOf(endpoint.baseUrl) !== host)
        throw new AppError(
          'conflict',
          `${endpoint.name} is now at ${hostOf(endpoint.baseUrl)}. Look at the offer again.`,
        )
      if ('keyPrefix' in endpoint) {
        await personalProviders.chooseEmbeddings(person, provider, model, signal)
        return
      }
      await testEmbeddings(endpoint.name, createEndpointEmbedder(endpoint, model), signal)
      await database.asUser(person, (scope) => giveConsent(scope, { address: endpoint.baseUrl, model }))
    },

    async stop(person) {
      await database.asUser(person, withdrawChoice)
    },
  }
}
