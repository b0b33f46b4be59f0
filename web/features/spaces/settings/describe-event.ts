import type { SpaceEvent } from '#web/data/spaces/events.ts'

type NameOf = (person: string | null) => string

const textOf = (detail: SpaceEvent['detail'], key: string): string => {
  const value = detail[key]
  return typeof value === 'string' ? value : ''
}

/** A sentence that says what happened. @param nameOf the name of a member, or of one who is gone */
export function describeEvent({ kind, actor, subject, detail }: SpaceEvent, nameOf: NameOf): string {
  const who = nameOf(actor)
  const whom = nameOf(subject)
  const text = (key: string): string => textOf(detail, key)
  switch (kind) {
    case 'created':
      return `${who} created the space`
    case 'changed':
      if (text('name') !== '') return `${who} named the space “${text('name')}”`
      return detail['instructions'] === true ? `${who} changed the instructions` : `${who} changed the settings`
    case 'archived':
      return `${who} archived the space`
    case 'restored':
      return `${who} took the space back into use`
    case 'invited':
      return `${who} invited ${text('email')} (${text('role')})`
    case 'invitation_withdrawn':
      return `${who} withdrew the invitation of ${text('email')}`
    case 'declined':
      return `${text('email')} declined the invitation`
    case 'joined':
      return `${whom} joined (${text('role')})`
    case 'role_changed':
      return `${who} changed ${whom} from ${text('from')} to ${text('to')}`
    case 'left':
      return `${whom} left`
    case 'removed':
      return `${who} removed ${whom}`
    case 'shared':
      return `${who} shared a conversation`
    case 'unshared':
      return `${who} stopped sharing a conversation`
    case 'conversation_deleted':
      return `${who} deleted a shared conversation`
    case 'document_moved_in':
      return `${who} moved ${text('name') || 'a document'} here`
    case 'document_moved_out':
      return `${who} moved ${text('name') || 'a document'} out`
    case 'conversation_moved_in':
      return `${who} moved a conversation here`
    case 'conversation_moved_out':
      return `${who} moved a conversation out`
    case 'document_deleted':
      return `${who} deleted ${text('name')}`
    case 'link_made':
      return `${who} made a link to a conversation`
    case 'link_revoked':
      return `${who} revoked a link`
    default:
      return `${who}: ${kind.replaceAll('_', ' ')}${text('name') === '' ? '' : ` ${text('name')}`}`
  }
}
