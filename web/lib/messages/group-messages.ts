/** Turns of a conversation in groups, each skipped as a whole by the browser while it is far from what is read. */
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { messageKey, type ThreadMessage } from './merge-messages.ts'

export type MessageGroup = {
  /** The key of its first message. */
  key: string
  messages: readonly ThreadMessage[]
}

/** A group ends before the first question after so many messages, or where there is none after `LONGEST`. */
const USUAL_GROUP_LENGTH = 10
const MAX_GROUP_LENGTH = 40

/**
 * The messages in groups. Groups of `known` keep their beginning, so that nothing is drawn anew when older messages come
 * in above or new ones below, and their identity where nothing in them changed; `known` itself where nothing did at all.
 */
export function groupMessages(
  known: readonly MessageGroup[],
  messages: readonly ThreadMessage[],
): readonly MessageGroup[] {
  const before = new Map(known.map((group) => [group.key, group]))
  const groups: { key: string; messages: ThreadMessage[] }[] = []
  for (const message of messages) {
    const key = messageKey(message)
    const group = groups.at(-1)
    const length = group?.messages.length ?? 0
    const isFull =
      length >= MAX_GROUP_LENGTH || (length >= USUAL_GROUP_LENGTH && message.sender_role === SENDER_ROLES.user)
    if (group === undefined || isFull || before.has(key)) groups.push({ key, messages: [message] })
    else group.messages.push(message)
  }
  const kept = groups.map((group) => {
    const same = before.get(group.key)
    return same !== undefined && hasSameItems(same.messages, group.messages) ? same : group
  })
  return hasSameItems(known, kept) ? known : kept
}

const hasSameItems = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((item, index) => item === other[index])
