/** Names, sizes and constants of the specification that both sides of the wire need. */

export const PRODUCT_NAME = 'Alcove'

export const MAX_UPLOAD_BYTES = 25 * 1024 * 1024

/** Accepted upload types: extension to the media type that is stored and served. */
export const UPLOAD_TYPES = {
  pdf: 'application/pdf',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  txt: 'text/plain',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
} as const

export type UploadExtension = keyof typeof UPLOAD_TYPES

export const DEFAULT_TITLES = {
  created: 'New conversation',
  listed: 'Untitled conversation',
  active: 'Conversation',
} as const

/** The built-in model that answers from the documents alone. */
export const READER_MODEL = 'alcove-reader'

export const TEMPORARY_ID_PREFIX = 'temp-'
