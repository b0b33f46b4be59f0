import { expect, it } from 'vitest'
import { groupModels, initialModel } from './model-groups.ts'

const model = (name: string, provider: string, is_default = false) => ({ name, provider, is_default })

it('groups by provider in the order of the page', () => {
  const groups = groupModels([
    model('r', 'Alcove'),
    model('g', 'OpenAI'),
    model('c', 'Anthropic'),
    model('d', 'Anthropic'),
  ])
  expect(groups.map(({ provider, models }) => [provider, models.length])).toEqual([
    ['Anthropic', 2],
    ['OpenAI', 1],
    ['Alcove', 1],
  ])
})

it('begins with the default, else with the first of the first group', () => {
  const models = [model('r', 'Alcove'), model('c', 'Anthropic'), model('g', 'OpenAI', true)]
  expect(initialModel(models)?.name).toBe('g')
  expect(initialModel(models.map((given) => ({ ...given, is_default: false })))?.name).toBe('c')
  expect(initialModel([])).toBeUndefined()
})
