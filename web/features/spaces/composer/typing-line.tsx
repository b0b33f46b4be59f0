import type { JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { useAuthorNames } from '#web/data/spaces/author-names.ts'
import { usePresence } from '#web/data/spaces/presence.ts'
import styles from './composer-parts.module.css'

export function describeTyping(names: readonly string[]): string {
  const [first, second] = names
  if (first === undefined) return ''
  if (second === undefined) return `${first} is typing…`
  return names.length === 2
    ? `${first} and ${second} are typing…`
    : `${first} and ${names.length - 1} others are typing…`
}

/** Names the others who type in a shared conversation. */
export function TypingLine({ conversationId }: { conversationId: string }): JSX.Element {
  const { id: userId } = useUser()
  const present = usePresence(({ people }) => people)
  const names = useAuthorNames((state) => state.names)
  const typing = present.filter(
    (person) => person.user !== userId && person.typing && person.conversation === conversationId,
  )
  const known = [...new Set(typing.map(({ user }) => names[user] ?? 'A member'))]
  return (
    <p className={styles.typing} role="status">
      {describeTyping(known)}
    </p>
  )
}
