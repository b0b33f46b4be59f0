/** The integers of `messages.sender_role`. */
export const SENDER_ROLES = { user: 1, assistant: 2, tool: 3 } as const
