import type { OwnSpace } from './spaces.ts'

/** Whether the person adds and removes documents, and changes instructions. */
export const mayEdit = (space: Pick<OwnSpace, 'role' | 'archived_at'>): boolean =>
  space.role !== 'reader' && space.archived_at === null
