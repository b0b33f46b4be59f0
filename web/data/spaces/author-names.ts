/** The names of the members of the current space, by account. */
import { create } from 'zustand'

interface AuthorNames {
  readonly names: Readonly<Record<string, string>>
  /** An account without a name is of no member only then. */
  readonly isRead: boolean
}

export const useAuthorNames = create<AuthorNames>(() => ({ names: {}, isRead: false }))

/** Undefined until the names are read; null: a former member, or an account that is gone. */
export const useAuthorName = (account: string): string | null | undefined =>
  useAuthorNames(({ names, isRead }) => names[account] ?? (isRead ? null : undefined))

export function forgetAuthorNames(): void {
  useAuthorNames.setState({ names: {}, isRead: false })
}
