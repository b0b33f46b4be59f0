type Grouped = { provider: string; is_default: boolean }

const PROVIDER_ORDER = ['Anthropic', 'OpenAI', 'OpenAI-compatible', 'Alcove']

function rank(provider: string): number {
  const place = PROVIDER_ORDER.findIndex((known) => known.toLowerCase() === provider.toLowerCase())
  return place === -1 ? PROVIDER_ORDER.length : place
}

export function groupModels<T extends Grouped>(models: readonly T[]): { provider: string; models: T[] }[] {
  const groups = Map.groupBy(models, (model) => model.provider)
  return [...groups]
    .map(([provider, members]) => ({ provider, models: members }))
    .toSorted((a, b) => rank(a.provider) - rank(b.provider) || a.provider.localeCompare(b.provider))
}

export function initialModel<T extends Grouped>(models: readonly T[]): T | undefined {
  return models.find((model) => model.is_default) ?? groupModels(models)[0]?.models[0]
}
