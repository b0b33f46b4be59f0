/** The message that somebody wants to see: its conversation loads back to it, and the thread scrolls to it and marks it. */
import { create } from 'zustand'

export type TargetMessage = { conversationId: string; messageId: string; position: number }

export const useTargetMessage = create<{ target: TargetMessage | null }>(() => ({ target: null }))

export function setTargetMessage(target: TargetMessage): void {
  useTargetMessage.setState({ target })
}

/** The message is in view, or cannot be: whoever scrolls from now on is left alone. */
export function clearTargetMessage(messageId: string): void {
  useTargetMessage.setState((state) => (state.target?.messageId === messageId ? { target: null } : state))
}
