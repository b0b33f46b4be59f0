/** Sentences below an answer that ended early, on the page and on paper. */
export const ANSWER_NOTES = {
  stopped: 'You stopped this answer.',
  cut: 'The model reached the longest answer it may give.',
} as const

export const NOT_IN_PASSAGE = 'Not in the cited passage'
