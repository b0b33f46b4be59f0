/** The label of the provider that this tab went to, for the words about its answer. */
const KEY = 'alcove-provider'

export const rememberProvider = (label: string): void => sessionStorage.setItem(KEY, label)
export const providerLabel = (): string | null => sessionStorage.getItem(KEY)
