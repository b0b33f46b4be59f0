/** The accounts and servers of models that the environment names. */
import { DEFAULT_BASE_URLS } from '#server/providers/default-base-urls.ts'
import type { Foundation } from './foundation.ts'

export function providerSettings(config: Foundation['config']) {
  return {
    anthropic: { apiKey: config.ANTHROPIC_API_KEY, baseUrl: config.ANTHROPIC_BASE_URL },
    openai: { apiKey: config.OPENAI_API_KEY, baseUrl: config.OPENAI_BASE_URL },
    compatible: { apiKey: config.OPENAI_COMPATIBLE_API_KEY, baseUrl: config.OPENAI_COMPATIBLE_BASE_URL },
    idleTimeoutMs: config.MODEL_SILENCE_S * 1000,
  }
}

/** Model providers of the environment, with the host that receives questions; null for Alcove Reader, which answers here. */
export function listOperatedProviders({ anthropic, openai, compatible }: ReturnType<typeof providerSettings>) {
  const hostOf = (address: string) => new URL(address).host
  return [
    ...(anthropic.apiKey === undefined
      ? []
      : [{ name: 'Anthropic', host: hostOf(anthropic.baseUrl ?? DEFAULT_BASE_URLS.Anthropic) }]),
    ...(openai.apiKey === undefined
      ? []
      : [{ name: 'OpenAI', host: hostOf(openai.baseUrl ?? DEFAULT_BASE_URLS.OpenAI) }]),
    ...(compatible.baseUrl === undefined ? [] : [{ name: 'OpenAI-compatible', host: hostOf(compatible.baseUrl) }]),
    { name: 'Alcove', host: null },
  ]
}
