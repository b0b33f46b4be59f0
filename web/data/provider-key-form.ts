/** The provider whose key form the settings tab should open. */
import { create } from 'zustand'

/** A new object on each request, so that the form is focused again. */
export type ProviderKeyForm = { provider: 'anthropic' | 'openai' }

export const useProviderKeyForm = create<{ wanted: ProviderKeyForm | null }>(() => ({ wanted: null }))

/** The provider whose key a model needs; null if the person cannot enter one. */
export function keyProviderOf(provider: string | undefined): ProviderKeyForm['provider'] | null {
  if (provider === 'Anthropic') return 'anthropic'
  return provider === 'OpenAI' ? 'openai' : null
}

export function openProviderKeyForm(provider: ProviderKeyForm['provider']): void {
  useProviderKeyForm.setState({ wanted: { provider } })
}

export function closeProviderKeyForm(): void {
  useProviderKeyForm.setState({ wanted: null })
}
