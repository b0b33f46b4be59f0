import { AppError } from '#server/base/errors.ts'

export interface Scanner {
  readonly isAtEnd: boolean
  sees(literal: string): boolean
  take(literal: string): boolean
  match(pattern: RegExp): string | undefined
  /** Runs `read`; consumes nothing if it fails or returns undefined. */
  attempt<T>(read: () => T | undefined): T | undefined
  expect(literal: string): void
  expectEnd(): void
  /** @throws AppError `bad_request`; `details.parse` names the found and the expected text */
  fail(expected: string): never
}

/** Services render `details.parse` in their own format. */
export const isParseError = (thrown: unknown): thrown is AppError & { details: { parse: string } } =>
  thrown instanceof AppError && typeof thrown.details?.['parse'] === 'string'

export function createScanner(what: string, text: string): Scanner {
  let position = 0

  function fail(expected: string): never {
    const found = position < text.length ? `"${String.fromCodePoint(text.codePointAt(position) ?? 0)}"` : 'end of input'
    throw new AppError('bad_request', `"failed to parse ${what} (${text})" (line 1, column ${position + 1})`, {
      details: { parse: `unexpected ${found} expecting ${expected}` },
    })
  }

  function take(literal: string): boolean {
    if (!text.startsWith(literal, position)) return false
    position += literal.length
    return true
  }

  return {
    get isAtEnd() {
      return position >= text.length
    },
    sees: (literal) => text.startsWith(literal, position),
    take,
    match(pattern) {
      pattern.lastIndex = position
      const found = pattern.exec(text)?.[0]
      if (found !== undefined) position += found.length
      return found
    },
    attempt(read) {
      const start = position
      try {
        const result = read()
        if (result === undefined) position = start
        return result
      } catch (error) {
        if (!isParseError(error)) throw error
        position = start
        return undefined
      }
    },
    expect(literal) {
      if (!take(literal)) fail(`"${literal}"`)
    },
    expectEnd() {
      if (position < text.length) fail('end of input')
    },
    fail,
  }
}

export function readQuoted(scanner: Scanner): string | undefined {
  if (!scanner.take('"')) return undefined
  const inner = scanner.match(/(?:[^"\\]|\\.)*/sy) ?? ''
  scanner.expect('"')
  return inner.replaceAll(/\\(.)/gs, '$1')
}
