/** Groups messages so that the browser skips rendering whole groups that are out of view. */
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { messageKey, type ThreadMessage } from './merge-messages.ts'

export type MessageGroup = {
  key: string
  messages: readonly ThreadMessage[]
}

/** A group ends at the first question after `USUAL_GROUP_LENGTH` messages, and at `MAX_GROUP_LENGTH` in any case. */
const USUAL_GROUP_LENGTH = 10
const MAX_GROUP_LENGTH = 40

/**
 * Groups messages. Groups of `known` keep their first message, so that inserted messages leave the others unchanged;
 * unchanged groups, and an unchanged result, keep their identity.
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
  const regrouped = groups.map((group) => {
    const same = before.get(group.key)
    return same !== undefined && hasSameItems(same.messages, group.messages) ? same : group
  })
  return hasSameItems(known, regrouped) ? known : regrouped
}

const hasSameItems = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((item, index) => item === other[index])
