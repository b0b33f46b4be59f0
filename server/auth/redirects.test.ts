import { expect, test } from 'vitest'
import { chooseRedirect } from './redirects.ts'
import type { AuthSettings } from './service.ts'

const settings = (siteUrl: string, redirectAllowList: string[] = []): AuthSettings => ({
  siteUrl,
  redirectAllowList,
  signup: 'open',
  autoconfirm: false,
  signupRevealsAccounts: false,
  anonymous: false,
  manualLinking: false,
  passwordNeedsNonce: false,
  providers: [],
  samlProviders: [],
  smsWebhook: undefined,
  sessionDays: 30,
  sessionIdleDays: 14,
  minPasswordLength: 8,
  commonPasswords: 'refuse',
  mailIntervalS: 0,
  rateLimits: 'on',
  trustProxy: 0,
  secureCookies: true,
})

test.each([
  'https://alcove.example.com.evil.com/',
  'https://alcove.example.com@evil.com/',
  'https://user@alcove.example.com/',
  'http://alcove.example.com/',
  'https://alcove.example.com:8443/',
  '//evil.com/',
  '/\\evil.com',
  'https:\\\\evil.com',
  'https://evil.com\\@alcove.example.com/',
  'java\nscript:alert(1)',
  'javascript:alert(1)',
  'data:text/html,x',
  'https://10.0.0.1/',
  'https://a.b.wild.example.com/',
  'https://evil.com/https://app.example.com/',
  'not an address',
])('%s leads to the site itself', (asked) => {
  const allowed = ['https://app.example.com/**', 'https://*.wild.example.com/*']
  const chosen = chooseRedirect(asked, settings('https://alcove.example.com', allowed))
  expect(chosen.href).toBe('https://alcove.example.com/')
})

test.each([
  'https://alcove.example.com/login?x=1',
  'https://app.example.com/deep/er',
  'https://a.wild.example.com/one',
  'myapp://callback/',
])('%s is followed', (asked) => {
  const allowed = ['https://app.example.com/**', 'https://*.wild.example.com/*', 'myapp://callback/']
  expect(chooseRedirect(asked, settings('https://alcove.example.com', allowed)).href).toBe(asked)
})

test('an address that is no loopback is refused even where a pattern fits it', () => {
  expect(chooseRedirect('https://10.0.0.1/', settings('https://alcove.example.com', ['https://**'])).host).toBe(
    'alcove.example.com',
  )
  expect(chooseRedirect('http://10.0.0.1:3000/x', settings('http://10.0.0.1:3000')).pathname).toBe('/x')
})

test('an address that is too long to be compared leads to the site', () => {
  const allowing = settings('https://alcove.example.com', ['https://other.example.com/**'])
  const withPath = (length: number) => chooseRedirect(`https://other.example.com/${'a'.repeat(length)}`, allowing).host
  expect([withPath(900), withPath(1_000)]).toEqual(['other.example.com', 'alcove.example.com'])
})

test('a site on this machine may lead to any port of it', () => {
  const local = settings('http://127.0.0.1:3000')
  expect(chooseRedirect('http://localhost:5173/login', local).host).toBe('localhost:5173')
  expect(chooseRedirect('http://[::1]:4000/', local).host).toBe('[::1]:4000')
  expect(chooseRedirect('http://localhost.evil.com:3000/', local).host).toBe('127.0.0.1:3000')
})

test('a fragment goes along to other sites only, so that nobody hands our page a session by way of a mail or a provider', () => {
  const chosen = (asked: string) =>
    chooseRedirect(asked, settings('https://alcove.example.com', ['https://app.example.com/**'])).href
  expect(chosen('https://alcove.example.com/?doc=1#access_token=x')).toBe('https://alcove.example.com/?doc=1')
  expect(chosen('https://app.example.com/#/callback')).toBe('https://app.example.com/#/callback')
})

test('a site below a path leads to its own path only: another program may have the rest of the host', () => {
  const below = settings('https://example.org/alcove', ['https://example.org/friend/*'])
  for (const asked of ['https://example.org/alcove/login?x=1', 'https://example.org/friend/of-ours']) {
    expect(chooseRedirect(asked, below).href).toBe(asked)
  }
  for (const asked of [
    'https://example.org/',
    'https://example.org/login',
    'https://example.org/alcove-other/',
    'https://example.org/alcove/../other/',
    'https://example.org/alcove/%2e%2e/other/',
    'https://example.org/Alcove/',
    undefined,
  ]) {
    expect(chooseRedirect(asked, below).href).toBe('https://example.org/alcove/')
  }
  expect(chooseRedirect('https://example.org/alcove/#access_token=x', below).hash).toBe('')
  expect(chooseRedirect('https://example.org/friend/of#ours', below).hash).toBe('#ours')
})
