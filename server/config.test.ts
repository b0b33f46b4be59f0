import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

test('a refusal names the variable, and shows no password', () => {
  const refusal = (environment: Record<string, string>): string => {
    try {
      readConfig(environment)
    } catch (error) {
      return String(error)
    }
    throw new Error('nothing was refused')
  }
  expect(refusal({ SEARCH_PROVIDER: 'brave' })).toContain('SEARCH_API_KEY is not set')
  expect(refusal({ SEARCH_PROVIDER: 'searxng' })).toContain('SEARCH_URL is not set')
  expect(refusal({ PORT: '99999' })).toContain('PORT is "99999", but it wants')
  for (const name of ['DATABASE_URL', 'SMTP_URL', 'ALCOVE_SECRET']) {
    const message = refusal({ [name]: 'nothing://someone:hunter2@here' })
    expect(message).toContain(`${name} is 30 characters, but it wants`)
    expect(message).not.toContain('hunter2')
  }
})
