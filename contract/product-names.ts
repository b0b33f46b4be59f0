export const PRODUCT_NAME = 'Alcove'

/** The built-in model, which quotes documents without a provider. */
export const READER_MODEL = 'alcove-reader'

/** Titles of a conversation without one: as it is stored, in lists, above its messages. */
export const DEFAULT_TITLES = {
  created: 'New conversation',
  listed: 'Untitled conversation',
  active: 'Conversation',
} as const

/** The name of a conversation's model where none is known. */
export const DEFAULT_MODEL_LABEL = 'Claude-3'
