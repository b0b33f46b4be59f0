import type { SpaceRole } from '#contract/space.ts'

/** `may`: of a member, `you`: of the person who reads it. */
export const ROLE_WORDS: Record<SpaceRole, { label: string; may: string; you: string }> = {
  owner: {
    label: 'Owner',
    may: 'Invites people, changes roles, archives and deletes the space',
    you: 'invite people, change roles, archive and delete the space',
  },
  editor: {
    label: 'Editor',
    may: 'Adds and removes documents, goes on in shared conversations',
    you: 'add and remove documents, and go on in shared conversations',
  },
  reader: {
    label: 'Reader',
    may: 'Asks and reads; their conversations are theirs',
    you: 'ask and read; your conversations are yours until you share them',
  },
}

export const withArticle = (role: SpaceRole): string => `${role === 'reader' ? 'a' : 'an'} ${role}`
