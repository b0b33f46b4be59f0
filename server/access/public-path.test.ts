import { expect, test } from 'vitest'
import { basePathOf, cookieNameOf, isBarePath, isBelow, withoutBasePath } from './public-path.ts'

test('the path of an address has no slash at its end', () => {
  expect(
    ['https://a.example', 'https://a.example/', 'https://a.example/b/', 'https://a.example/b/c'].map(basePathOf),
  ).toEqual(['', '', '/b', '/b/c'])
})

test('requests lose the path once, whole, and keep what only resembles it', () => {
  for (const [target, expected] of [
    ['/b/', '/'],
    ['/b/rest/v1/x?y=/b/', '/rest/v1/x?y=/b/'],
    ['/b/b/', '/b/'],
    ['/bc/', '/bc/'],
    ['/B/', '/B/'],
    ['/rest/v1', '/rest/v1'],
    ['//b/', '//b/'],
  ] as const) {
    expect(withoutBasePath(target, '/b')).toBe(expected)
    expect(withoutBasePath(target, '')).toBe(target)
  }
  expect(['/b', '/b?c', '/b/', '/bc', '/'].map((target) => isBarePath(target, '/b'))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
  expect(['', '/', '?c'].map((target) => isBarePath(target, ''))).toEqual([false, false, false])
})

test('cookies of installations on one host have names of their own', () => {
  const names = ['', '/', '/a', '/a/b/'].map((path) => cookieNameOf('alcove-session', `https://a.example${path}`))
  expect(names).toEqual(['alcove-session', 'alcove-session', 'alcove-session.a', 'alcove-session.a.b'])
})

test('an address is below the path with whole folders only', () => {
  const below = (basePath: string) =>
    ['/b', '/b/', '/b/c', '/bc', '/'].map((pathname) => isBelow(basePath, { pathname }))
  expect(below('/b')).toEqual([true, true, true, false, false])
  expect(below('')).toEqual([true, true, true, true, true])
})
