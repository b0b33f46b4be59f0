import { z } from 'zod'

export const documentState = z.enum(['queued', 'reading', 'ready', 'failed'])

/** Why a document could not be read: a code for programs, a sentence for the person. */
export const documentError = z.object({ code: z.string(), message: z.string() })
export type DocumentError = z.infer<typeof documentError>

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
  uploaded_at: z.string(),
})
export type DocumentRow = z.infer<typeof documentRow>

/** A file of an upload that was not taken: 413 too large, 415 wrong type, 422 empty. */
export const rejectedFile = z.object({ name: z.string(), status: z.int(), message: z.string() })
export type RejectedFile = z.infer<typeof rejectedFile>

/** Answer of `POST /api/documents`. */
export const uploadAnswer = z.object({ documents: z.array(documentRow), rejected: z.array(rejectedFile) })
export type UploadAnswer = z.infer<typeof uploadAnswer>

/**
 * One run of a page's text that came from one pdf.js text item, so that a range of the text can be found again in the
 * viewer's text layer: `[offset in the page's text, item index, offset in the item, length]`, UTF-16 code units.
 */
export const itemRun = z.tuple([z.int(), z.int(), z.int(), z.int()])
export type ItemRun = z.infer<typeof itemRun>

/** Answer of `GET /api/documents/{id}/pages/{page}`. `items` is there for pdf pages only. */
export const pageText = z.object({ page: z.int().positive(), text: z.string(), items: z.array(itemRun).optional() })
export type PageText = z.infer<typeof pageText>
