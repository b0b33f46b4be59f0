/** The provider that somebody wants to enter a key for: the settings tab opens its form. */
import { create } from 'zustand'

/** Another one each time that it is asked for, so that the form comes to the fore again. */
export type ProviderKeyForm = { provider: 'anthropic' | 'openai' }

export const useProviderKeyForm = create<{ wanted: ProviderKeyForm | null }>(() => ({ wanted: null }))

/** Which key models of a provider are asked with; null where a person can enter none. */
export function keyProviderOf(provider: string | undefined): ProviderKeyForm['provider'] | null {
  if (provider === 'Anthropic') return 'anthropic'
  return provider === 'OpenAI' ? 'openai' : null
}

export function openProviderKeyForm(provider: ProviderKeyForm['provider']): void {
  useProviderKeyForm.setState({ wanted: { provider } })
}

/** The form has been left. */
export function closeProviderKeyForm(): void {
  useProviderKeyForm.setState({ wanted: null })
}
