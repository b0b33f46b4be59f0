import type { Scope } from '#server/database/scope.ts'

/** Runs as the person. */
export async function listReadableSpaces(scope: Scope): Promise<string[]> {
  const { rows } = await scope.query<{ spaces: string[] }>(`select spaces_to('read') as spaces`)
  return rows[0]?.spaces ?? []
}
