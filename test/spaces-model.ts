/** Rights in spaces, as a model that random histories are compared with. */
import type { SpaceRole } from '#contract/space.ts'

export interface ModelSpace {
  readonly id: string
  isArchived: boolean
  /** In the order of joining. */
  readonly members: Map<string, SpaceRole>
}
export interface ModelInvitation {
  readonly id: string
  readonly space: string
  readonly person: string
  role: SpaceRole
  invitedBy: string | null
}
export interface ModelDocument {
  readonly id: string
  owner: string | null
  space: string | null
  isIndexed: boolean
}
export interface ModelConversation {
  readonly id: string
  author: string | null
  space: string | null
  isShared: boolean
  readonly questions: string[]
}
export interface ModelLink {
  readonly id: string
  readonly conversation: string
  readonly createdBy: string
}
export interface ModelFeedback {
  readonly message: string
  readonly conversation: string
  readonly person: string
}

export type Right = 'read' | 'ask' | 'edit' | 'own'
const RANKS: readonly SpaceRole[] = ['reader', 'editor', 'owner']

export class SpacesModel {
  readonly people = new Set<string>()
  readonly spaces = new Map<string, ModelSpace>()
  readonly invitations = new Map<string, ModelInvitation>()
  readonly documents = new Map<string, ModelDocument>()
  readonly conversations = new Map<string, ModelConversation>()
  readonly links = new Map<string, ModelLink>()
  feedback: ModelFeedback[] = []

  has(person: string, right: Right, space: string | null): boolean {
    const found = space === null ? undefined : this.spaces.get(space)
    const role = found?.members.get(person)
    if (!found || role === undefined) return false
    if (right === 'read') return true
    if (right === 'own') return role === 'owner'
    return !found.isArchived && (right === 'ask' || role !== 'reader')
  }

  readsDocument(person: string, { owner, space }: ModelDocument): boolean {
    return space === null ? owner === person : this.has(person, 'read', space)
  }

  editsDocument(person: string, { owner, space }: ModelDocument): boolean {
    return space === null ? owner === person : this.has(person, 'edit', space)
  }

  readsConversation(person: string, { author, space, isShared }: ModelConversation): boolean {
    return (author === person || isShared) && (space === null || this.has(person, 'read', space))
  }

  changesConversation(person: string, { author, space }: ModelConversation): boolean {
    return author === person && (space === null || this.has(person, 'ask', space))
  }

  deletesConversation(person: string, { author, space, isShared }: ModelConversation): boolean {
    if (author === person && (space === null || this.has(person, 'read', space))) return true
    return isShared && this.has(person, 'own', space)
  }

  unsharesConversation(person: string, conversation: ModelConversation): boolean {
    const { author, space } = conversation
    return author !== null && space !== null && this.deletesConversation(person, conversation)
  }

  asks(person: string, conversation: ModelConversation): boolean {
    if (conversation.author === person) return this.changesConversation(person, conversation)
    return conversation.isShared && this.has(person, 'edit', conversation.space)
  }

  linksTo(person: string, { author, space, isShared }: ModelConversation): boolean {
    const role = space === null ? undefined : this.spaces.get(space)?.members.get(person)
    return (author === person || isShared) && (space === null || role === 'owner' || role === 'editor')
  }

  isLastOwner(space: string, person: string): boolean {
    const members = this.spaces.get(space)?.members
    return members?.get(person) === 'owner' && [...members.values()].filter((role) => role === 'owner').length === 1
  }

  join({ id, space, person, role }: ModelInvitation): void {
    this.invitations.delete(id)
    const members = this.spaces.get(space)?.members
    const before = members?.get(person)
    if (before === undefined || RANKS.indexOf(role) > RANKS.indexOf(before)) members?.set(person, role)
  }

  setRole(actor: string, space: string, person: string, role: SpaceRole): void {
    const members = this.spaces.get(space)?.members
    const before = members?.get(person)
    members?.set(person, role)
    if (before === 'owner' && role !== 'owner' && person !== actor) this.#endInvitationsOf(space, person)
    if (role === 'reader') this.#endLinksOf(space, person)
  }

  removeMember(actor: string, space: string, person: string): void {
    const members = this.spaces.get(space)?.members
    const before = members?.get(person)
    members?.delete(person)
    if (before === 'owner' && person !== actor) this.#endInvitationsOf(space, person)
    this.#endLinksOf(space, person)
  }

  placeConversation(conversation: ModelConversation, { space, isShared }: { space: string | null; isShared: boolean }) {
    Object.assign(conversation, { space, isShared })
    for (const link of this.links.values())
      if (link.conversation === conversation.id && !this.linksTo(link.createdBy, conversation))
        this.links.delete(link.id)
  }

  deleteConversation(id: string): void {
    this.conversations.delete(id)
    for (const link of this.links.values()) if (link.conversation === id) this.links.delete(link.id)
    this.feedback = this.feedback.filter(({ conversation }) => conversation !== id)
  }

  deleteSpace(id: string): void {
    this.spaces.delete(id)
    for (const invitation of this.invitations.values())
      if (invitation.space === id) this.invitations.delete(invitation.id)
    for (const document of this.documents.values()) if (document.space === id) this.documents.delete(document.id)
    for (const conversation of this.conversations.values())
      if (conversation.space === id) this.deleteConversation(conversation.id)
  }

  deleteAccount(person: string): void {
    this.people.delete(person)
    for (const { id, members } of this.spaces.values()) {
      if (!members.has(person)) continue
      if (members.size === 1) this.deleteSpace(id)
      else if (this.isLastOwner(id, person)) {
        const others = [...members].filter(([other]) => other !== person)
        const [heir] = others.find(([, role]) => role === 'editor') ?? others[0] ?? []
        if (heir !== undefined) members.set(heir, 'owner')
      }
      members.delete(person)
    }
    for (const conversation of this.conversations.values()) {
      if (conversation.author !== person) continue
      if (conversation.isShared) conversation.author = null
      else this.deleteConversation(conversation.id)
    }
    for (const document of this.documents.values()) {
      if (document.owner !== person) continue
      if (document.space === null) this.documents.delete(document.id)
      else document.owner = null
    }
    for (const link of this.links.values()) if (link.createdBy === person) this.links.delete(link.id)
    for (const invitation of this.invitations.values()) if (invitation.invitedBy === person) invitation.invitedBy = null
    this.feedback = this.feedback.filter((given) => given.person !== person)
  }

  #endInvitationsOf(space: string, person: string): void {
    for (const invitation of this.invitations.values())
      if (invitation.space === space && invitation.invitedBy === person) this.invitations.delete(invitation.id)
  }

  #endLinksOf(space: string, person: string): void {
    for (const { id, conversation, createdBy } of this.links.values())
      if (createdBy === person && this.conversations.get(conversation)?.space === space) this.links.delete(id)
  }

  /** All rows that a person may read, as lines of a table and a key. */
  view(person: string): string[] {
    const lines: string[] = []
    for (const { id, members } of this.spaces.values()) {
      if (this.has(person, 'read', id)) lines.push(`spaces ${id}`)
      if (this.has(person, 'own', id)) lines.push(`space_events ${id}`)
      if (this.has(person, 'read', id))
        for (const [member, role] of members) lines.push(`members ${id} ${member} ${role}`)
    }
    for (const { id, space, person: invited, role } of this.invitations.values())
      if (invited === person || this.has(person, 'own', space)) lines.push(`invitations ${id} ${role}`)
    for (const document of this.documents.values()) {
      if (!this.readsDocument(person, document)) continue
      lines.push(`documents ${document.id}`, `pages ${document.id}`)
      if (document.isIndexed) lines.push(`index ${document.id}`, `passages ${document.id}`, `vectors ${document.id}`)
    }
    for (const conversation of this.conversations.values()) {
      if (!this.readsConversation(person, conversation)) continue
      lines.push(`conversations ${conversation.id}`)
      for (const question of conversation.questions)
        lines.push(`messages ${question}`, `texts ${question}`, `replies ${question}`, `parts ${question}`)
    }
    for (const { id, conversation } of this.links.values()) {
      const found = this.conversations.get(conversation)
      const isListed = found && (found.author === person || this.linksTo(person, found))
      if (isListed && this.readsConversation(person, found)) lines.push(`links ${id}`)
    }
    for (const given of this.feedback) {
      const found = this.conversations.get(given.conversation)
      if (given.person === person && found && this.readsConversation(person, found))
        lines.push(`feedback ${given.message}`)
    }
    return lines.sort()
  }
}
