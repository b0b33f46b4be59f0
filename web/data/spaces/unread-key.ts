/** Apart from the query, whose code loads after the first view: the history reads what it has cached. */
export const unreadKey = ['unread_conversations'] as const
