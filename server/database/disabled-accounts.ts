import type { Database } from './scope.ts'

/** Whether nothing more is asked of models for this person. False for the id of a space. */
export async function isDisabled(database: Pick<Database, 'serviceStatement'>, person: string): Promise<boolean> {
  const { rows } = await database.serviceStatement<{ disabled: boolean }>('select is_disabled($1) as disabled', [
    person,
  ])
  return rows[0]?.disabled === true
}
