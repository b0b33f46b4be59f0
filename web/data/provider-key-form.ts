/** The provider that somebody wants to enter a key for: the settings tab opens its form. */
import { create } from 'zustand'

/** Another one each time that it is asked for, so that the form comes to the fore again. */
export type WantedKey = { provider: 'anthropic' | 'openai' }

export const useWantedKey = create<{ wanted: WantedKey | null }>(() => ({ wanted: null }))

/** Which key models of a provider are asked with; null where a person can enter none. */
export function keyFor(provider: string | undefined): WantedKey['provider'] | null {
  if (provider === 'Anthropic') return 'anthropic'
  return provider === 'OpenAI' ? 'openai' : null
}

export function wantKey(provider: WantedKey['provider']): void {
  useWantedKey.setState({ wanted: { provider } })
}

/** The form has been left. */
export function forgetWantedKey(): void {
  useWantedKey.setState({ wanted: null })
}
