import { z } from 'zod'

/** `paused`: not read until its owner lets the reading go on. */
export const documentState = z.enum(['queued', 'reading', 'paused', 'ready', 'failed'])

/** Why a document could not be read: a code for programs, a sentence for the person. */
export const documentError = z.object({ code: z.string(), message: z.string() })
export type DocumentError = z.infer<typeof documentError>

/** In pages. `unsure`: low OCR confidence; `without_text`: no readable text; `cut`: only the beginning was read. */
export const readability = z.object({
  pages: z.int(),
  by_ocr: z.int(),
  unsure: z.int(),
  without_text: z.int(),
  cut: z.int(),
})

/** OCR languages by ISO 639-3 code; Chinese by script. OCR detects the language unless the person prefers some. */
export const DOCUMENT_LANGUAGES = [
  'eng',
  'deu',
  'fra',
  'spa',
  'ita',
  'por',
  'nld',
  'dan',
  'nor',
  'swe',
  'fin',
  'pol',
  'ces',
  'hun',
  'ron',
  'tur',
  'vie',
  'ell',
  'rus',
  'ukr',
  'heb',
  'ara',
  'fas',
  'hin',
  'tha',
  'chi_sim',
  'chi_tra',
  'jpn',
  'kor',
] as const
export const documentLanguage = z.enum(DOCUMENT_LANGUAGES)
export type DocumentLanguage = z.infer<typeof documentLanguage>
/** Key in `user_settings.preferences` of a person's languages, most likely first. */
export const LANGUAGES_PREFERENCE = 'document_languages'

/** Why a page has no text. `beyond_limit`: the document has more pages than OCR reads. */
export const pageGap = z.enum(['blank', 'not_recognised', 'unreadable', 'beyond_limit'])
export type PageGap = z.infer<typeof pageGap>

/** OCR confidence below which a page counts as unsure. */
export const UNSURE_BELOW = 60

/** A document in the API and in live changes. `pages` is null until it is known; `pages_done` counts up to it. */
export const documentRow = z.object({
  id: z.uuid(),
  filename: z.string(),
  /** The path of the folder that the file was added with, without a slash at either end; empty for a file by itself. */
  folder: z.string(),
  originalname: z.string(),
  mimetype: z.string(),
  size: z.int(),
  state: documentState,
  pages: z.int().nullable(),
  pages_done: z.int(),
  error: documentError.nullable(),
  /** Null until the document has been read. */
  readability: readability.nullish(),
  uploaded_at: z.string(),
  /** Null: in the library of its owner. */
  space_id: z.uuid().nullish(),
  /** Shared by all versions of a document. */
  series: z.uuid(),
  version: z.int().positive(),
  /** When a newer version replaced this one in searches; null for the current version. */
  superseded_at: z.string().nullable(),
})
export type DocumentRow = z.infer<typeof documentRow>

/** The name of a document below the folder that was chosen: `Contracts/2024/lease.pdf`. */
export const nameWithFolder = ({ folder, filename }: Pick<DocumentRow, 'folder' | 'filename'>): string =>
  folder === '' ? filename : `${folder}/${filename}`

/** A document as a selection holds it. */
export const namedDocument = documentRow.pick({ id: true, filename: true, folder: true, state: true })
export type NamedDocument = z.infer<typeof namedDocument>

/**
 * Answer of `GET /api/documents/count`: current versions. `queue`: all that were uploaded since the person's documents were
 * last all read, also those that are read by now; 0 when none waits.
 */
export const documentCounts = z.object({
  total: z.int(),
  ready: z.int(),
  being_read: z.int(),
  paused: z.int(),
  queue: z.int(),
})
export type DocumentCounts = z.infer<typeof documentCounts>

/** Documents in one request that names them by id or by the SHA-256 of their bytes. */
export const MAX_IDS = 100

/** Answer of `POST /api/documents/known`: the documents with these bytes; those without one are left out. */
export const knownDocuments = z.array(z.object({ sha256: z.string(), document: documentRow }))

/** Answer of `GET /api/documents/{id}/report`: pages read by OCR or with gaps. OCR confidence is 0 to 100. */
export const readingReport = z.object({
  pages: z.int(),
  recognised: z.array(z.object({ page: z.int(), confidence: z.int() })),
  without_text: z.array(z.object({ page: z.int(), why: pageGap.nullable() })),
  cut: z.array(z.int()),
})
export type ReadingReport = z.infer<typeof readingReport>

/** A rejected file of an upload: 409 duplicate, 413 too large, 415 wrong type, 422 empty. */
export const rejectedFile = z.object({ name: z.string(), status: z.int(), message: z.string() })
export type RejectedFile = z.infer<typeof rejectedFile>

/** Answer of `POST /api/documents`, and of `POST /api/documents/{id}/versions`, which takes one file. */
export const uploadAnswer = z.object({ documents: z.array(documentRow), rejected: z.array(rejectedFile) })
export type UploadAnswer = z.infer<typeof uploadAnswer>

/** Text in a pdf.js text item: `[offset in the page, item index, offset in the item, length]`, UTF-16 code units. */
export const itemRun = z.tuple([z.int(), z.int(), z.int(), z.int()])
export type ItemRun = z.infer<typeof itemRun>

/**
 * A block of a page's text, in reading order: `[start, end)` in UTF-16 code units. Headings have a `level`, 1 the highest.
 * Tables are lines of cells separated by `CELL_BORDER`; `headerEnd` is the end of the row of column titles.
 */
export const pageBlock = z.object({
  kind: z.enum(['heading', 'paragraph', 'list', 'table', 'code']),
  start: z.int(),
  end: z.int(),
  level: z.int().optional(),
  headerEnd: z.int().optional(),
})
export type PageBlock = z.infer<typeof pageBlock>

/** Start of a row of a sheet: `[offset in the page's text, row number from 1]`. */
export const sheetRow = z.tuple([z.int(), z.int()])
export type SheetRow = z.infer<typeof sheetRow>

/** Column numbers of the cells in each line, from A = 1. */
export const sheetColumns = z.array(z.int().positive())

/**
 * Position of an OCR word: `[offset in the page's text, length, left, top, width, height]`. The last four are in
 * ten-thousandths of the displayed page's width and height, after rotation.
 */
export const wordBox = z.tuple([z.int(), z.int(), z.int(), z.int(), z.int(), z.int()])
export type WordBox = z.infer<typeof wordBox>

/** Parts of a long sheet begin at multiples of so many rows. */
export const SHEET_PART_ROWS = 1_000

/** The whole sheet, in an answer that holds only some of its rows. Offsets are those of the page's text. */
export const sheetPart = z.object({
  /** Offset and index, from 0, of the first row in the answer. */
  start: z.int(),
  first: z.int(),
  /** Rows of the whole sheet. */
  count: z.int(),
  /** Characters of the longest cell of each column, in a sample of all rows. */
  widths: z.array(z.int()),
  /** The first line. */
  name: z.string(),
  last: sheetRow,
  /** The last row, and what follows it. */
  end: z.string(),
})

/**
 * Answer of `GET /api/documents/{id}/pages/{page}`. `items`: PDF pages with a text layer; `rows`: sheets; `columns`:
 * sheets whose lines share their columns; `boxes` and `confidence` (0 to 100): pages read by OCR. With `?near={offset}`
 * or `?row={index}` the answer for a sheet of more than 2,000 rows holds those around it: `text` and `rows` are those
 * of the `part`.
 */
export const pageText = z.object({
  page: z.int().positive(),
  text: z.string(),
  items: z.array(itemRun).optional(),
  rows: z.array(sheetRow).optional(),
  columns: sheetColumns.optional(),
  blocks: z.array(pageBlock).optional(),
  boxes: z.array(wordBox).optional(),
  confidence: z.int().optional(),
  part: sheetPart.optional(),
})
export type PageText = z.infer<typeof pageText>
