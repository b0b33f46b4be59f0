/** Providers of models with their keys, encrypted as the rows of `own_providers` and `space_providers` store them. */
import { hkdfSync } from 'node:crypto'
import type { z } from 'zod'
import type { newPersonalProvider, PersonalProvider } from '#contract/provider.ts'
import { decrypt, encrypt } from '#server/base/encrypt.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Endpoint } from '#server/providers/list-models.ts'
import { DEFAULT_BASE_URLS } from '#server/providers/default-base-urls.ts'
import type { PersonalEndpoint, ProviderSettings } from '#server/providers/provider-registry.ts'

export type NewProvider = z.output<typeof newPersonalProvider>

export interface EncryptedProvider {
  readonly kind: PersonalProvider['kind']
  readonly name: string
  readonly baseUrl: string | null
  readonly sealedKey: Buffer | null
}

export interface StoredProvider {
  readonly id: string
  readonly kind: PersonalProvider['kind']
  readonly name: string
  readonly base_url: string | null
  readonly sealed_key: Buffer | null
}

export const KEYED_NAMES = { anthropic: 'Anthropic', openai: 'OpenAI' } as const
const RESERVED_NAMES = new Set(['anthropic', 'openai', 'openai-compatible', 'alcove'])

/** Binds the encrypted key to the person or the space, the name and the address. */
const encryptionContext = (owner: string, name: string, baseUrl: string | null) =>
  JSON.stringify([owner, name, baseUrl])

/** @throws AppError `bad_request` for an endpoint with the name of another group of models */
export function requireFreeName(given: NewProvider): void {
  if (given.kind === 'compatible' && RESERVED_NAMES.has(given.name.toLowerCase()))
    throw new AppError('bad_request', `"${given.name}" is the name of another group. Choose a name of your own.`)
}

export interface ProviderEncryption {
  encrypt(owner: string, given: NewProvider): EncryptedProvider
  /** Undefined without a key, and if decryption fails: the installation key was replaced, or the row was modified. */
  decryptKey(owner: string, row: StoredProvider): string | undefined
  /** Where the models of a provider are listed, before it is stored. */
  toEndpoint(given: NewProvider): Endpoint
  /** None for a key of a known provider. */
  toPersonalEndpoints(owner: string, row: StoredProvider): PersonalEndpoint[]
}

interface ProviderEncryptionOptions {
  /** 32 bytes, specific to the installation. */
  readonly encryptionKey: Buffer
  readonly settings: ProviderSettings
  readonly guardedFetch: typeof fetch
  readonly log: Log
}

/** @param purpose of the derived key: keys of people never open as those of a space. */
export function createProviderEncryption(
  purpose: 'keys of people' | 'keys of spaces',
  { encryptionKey, settings, guardedFetch, log }: ProviderEncryptionOptions,
): ProviderEncryption {
  const key = Buffer.from(hkdfSync('sha256', encryptionKey, 'alcove', purpose, 32))

  function decryptKey(owner: string, { id, name, base_url, sealed_key }: StoredProvider): string | undefined {
    if (sealed_key === null) return undefined
    try {
      return decrypt(key, sealed_key, encryptionContext(owner, name, base_url))
    } catch (error) {
      log.warn({ err: error, provider: id }, 'a key of a provider cannot be decrypted')
      return undefined
    }
  }
  return {
    encrypt(owner, given) {
      const { kind, apiKey } = given
      const name = kind === 'compatible' ? given.name : KEYED_NAMES[kind]
      const baseUrl = kind === 'compatible' ? given.baseUrl : null
      const sealedKey = apiKey === undefined ? null : encrypt(key, apiKey, encryptionContext(owner, name, baseUrl))
      return { kind, name, baseUrl, sealedKey }
    },

    decryptKey,

    toEndpoint(given) {
      if (given.kind === 'compatible') {
        const { name, baseUrl, apiKey } = given
        return { protocol: 'openai', name, baseUrl, apiKey, fetch: guardedFetch }
      }
      const name = KEYED_NAMES[given.kind]
      const baseUrl = settings[given.kind].baseUrl ?? DEFAULT_BASE_URLS[name]
      return { protocol: given.kind, name, baseUrl, apiKey: given.apiKey }
    },

    toPersonalEndpoints(owner, row) {
      if (row.base_url === null) return []
      const { id, name, base_url: baseUrl } = row
      return [{ id, name, baseUrl, apiKey: decryptKey(owner, row), fetch: guardedFetch }]
    },
  }
}
