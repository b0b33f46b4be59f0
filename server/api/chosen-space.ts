import type { ChosenSpace } from '#contract/space.ts'
import { type Claims, onlyLibrary } from '#server/database/scope.ts'

/** Settings of a transaction. Without a space, it sees all documents that the person may read. */
export const inChosenSpace = (
  { sub }: Claims & { readonly sub: string },
  space: ChosenSpace | undefined,
): Readonly<Record<string, string>> => (space === undefined ? {} : onlyLibrary(space === 'personal' ? sub : space))
