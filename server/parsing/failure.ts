import type { DocumentError } from '#contract/document.ts'

/** Shown to the person who uploaded the file. No retry resolves these failures. */
const MESSAGES = {
  encrypted: 'This file is protected with a password. Remove the password and upload it again.',
  damaged: 'This file is damaged or incomplete and cannot be opened.',
  no_text: 'No text was found in this file.',
  no_text_in_picture: 'No text was found in this picture.',
  too_large: 'This file holds more text than can be read.',
  no_room: 'There is no room for the text of this file. Delete documents, this one too, and upload it again.',
  page_limit: 'This file has more scanned pages than may be recognised today. Upload it again tomorrow.',
  too_many_pixels: 'This picture has more pixels than can be read.',
  too_deep: 'The parts of this file are nested too deeply to be read.',
  timed_out: 'Reading this file took too long.',
  out_of_memory: 'Reading this file needs more memory than is allowed.',
  crashed: 'Reading this file failed several times.',
} as const

export type FailureCode = keyof typeof MESSAGES

export const FAILURE_CODES = Object.keys(MESSAGES) as [FailureCode, ...FailureCode[]]

export class ParseFailure extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, options?: ErrorOptions) {
    super(MESSAGES[code], options)
    this.name = 'ParseFailure'
    this.code = code
  }

  toDocumentError(): DocumentError {
    return { code: this.code, message: this.message }
  }
}
