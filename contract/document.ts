import { z } from 'zod'

export const documentState = z.enum(['queued', 'reading', 'ready', 'failed'])

/** Why a document could not be read: a code for programs, a sentence for the person. */
export const documentError = z.object({ code: z.string(), message: z.string() })
export type DocumentError = z.infer<typeof documentError>

/**
 * How well a document could be read, in numbers of pages. `unsure` were read by OCR with little confidence,
 * `without_text` hold nothing that can be read, of `cut` only the beginning was read.
 */
export const readability = z.object({
  pages: z.int(),
  by_ocr: z.int(),
  unsure: z.int(),
  without_text: z.int(),
  cut: z.int(),
})

/**
 * Languages that OCR can read, by the names of ISO 639-3, Chinese by its script. Where a person has said nothing, the page
 * itself tells which it is in.
 */
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
/** Where in `user_settings.preferences` a person's own stand, likeliest first. */
export const LANGUAGES_PREFERENCE = 'document_languages'

/**
 * Why a page has no text: nothing is on it, OCR found none in what it shows, it is broken, or it came after as many pages
 * as OCR reads of one document.
 */
export const pageGap = z.enum(['blank', 'not_recognised', 'unreadable', 'beyond_limit'])
export type PageGap = z.infer<typeof pageGap>

/** Confidence below which a page read by OCR counts as unsure. */
export const UNSURE_BELOW = 60

/**
 * A document as the product API returns it and as live changes carry it. `pages` is null until the number is known;
 * `pages_done` counts up to it while the document is read.
 */
export const documentRow = z.object({
  id: z.uuid(),
  filename: z.string(),
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
  /** The same for all versions of a document. */
  series: z.uuid(),
  version: z.int().positive(),
  /** Since when a newer version is searched instead of this one; null while this one is. */
  superseded_at: z.string().nullable(),
})
export type DocumentRow = z.infer<typeof documentRow>

/**
 * Answer of `GET /api/documents/{id}/report`: how each page was read that does not simply hold its text. Confidence is
 * that of OCR, 0 to 100.
 */
export const readingReport = z.object({
  pages: z.int(),
  recognised: z.array(z.object({ page: z.int(), confidence: z.int() })),
  without_text: z.array(z.object({ page: z.int(), why: pageGap.nullable() })),
  cut: z.array(z.int()),
})
export type ReadingReport = z.infer<typeof readingReport>

/** A file of an upload that was not taken: 409 there already, 413 too large, 415 wrong type, 422 empty. */
export const rejectedFile = z.object({ name: z.string(), status: z.int(), message: z.string() })
export type RejectedFile = z.infer<typeof rejectedFile>

/** Answer of `POST /api/documents`, and of `POST /api/documents/{id}/versions`, which takes one file. */
export const uploadAnswer = z.object({ documents: z.array(documentRow), rejected: z.array(rejectedFile) })
export type UploadAnswer = z.infer<typeof uploadAnswer>

/**
 * One run of a page's text that came from one pdf.js text item, so that a range of the text can be found again in the
 * viewer's text layer: `[offset in the page's text, item index, offset in the item, length]`, UTF-16 code units.
 */
export const itemRun = z.tuple([z.int(), z.int(), z.int(), z.int()])
export type ItemRun = z.infer<typeof itemRun>

/**
 * A block of a page's text, in reading order: `[start, end)` in UTF-16 code units. Headings have a `level`, 1 the highest;
 * tables are lines of cells with a `CELL_BORDER` (cell-border.ts) between them, and `headerEnd` says where the row of column titles ends.
 */
export const pageBlock = z.object({
  kind: z.enum(['heading', 'paragraph', 'list', 'table', 'code']),
  start: z.int(),
  end: z.int(),
  level: z.int().optional(),
  headerEnd: z.int().optional(),
})
export type PageBlock = z.infer<typeof pageBlock>

/** Where a row of a sheet begins: `[offset in the page's text, number of the row, the first being 1]`. */
export const sheetRow = z.tuple([z.int(), z.int()])
export type SheetRow = z.infer<typeof sheetRow>

/** The columns of a sheet that the cells of each line stand in, A being 1. */
export const sheetColumns = z.array(z.int().positive())

/**
 * Where a word that OCR read stands: `[offset in the page's text, length, left, top, width, height]`. The last four are
 * ten-thousandths of the width and height of the page as a viewer shows it, turned as the file says.
 */
export const wordBox = z.tuple([z.int(), z.int(), z.int(), z.int(), z.int(), z.int()])
export type WordBox = z.infer<typeof wordBox>

/**
 * Answer of `GET /api/documents/{id}/pages/{page}`. `items` is there for pdf pages with a text layer, `rows` for sheets and
 * `columns` for those whose lines all have the same ones, `boxes` and `confidence` (0 to 100) for pages read by OCR.
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
})
export type PageText = z.infer<typeof pageText>
