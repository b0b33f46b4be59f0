export const PRODUCT_NAME = 'Alcove'

export const MAX_UPLOAD_BYTES = 25 * 1024 * 1024

export const DEFAULT_TITLES = {
  created: 'New conversation',
  listed: 'Untitled conversation',
  active: 'Conversation',
} as const

/** The built-in model, which quotes documents without a provider. */
export const READER_MODEL = 'alcove-reader'

export const TEMPORARY_ID_PREFIX = 'temp-'
