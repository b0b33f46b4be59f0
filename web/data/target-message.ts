/** The message to show: its conversation loads back to it, and the thread scrolls to it and marks it. */
import { create } from 'zustand'

export type TargetMessage = { conversationId: string; messageId: string; position: number }

export const useTargetMessage = create<{ target: TargetMessage | null }>(() => ({ target: null }))

export function setTargetMessage(target: TargetMessage): void {
  useTargetMessage.setState({ target })
}

export function clearTargetMessage(messageId: string): void {
  useTargetMessage.setState((state) => (state.target?.messageId === messageId ? { target: null } : state))
}
