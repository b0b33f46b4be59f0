import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { MAX_UPLOAD_BYTES } from '#contract/limits.ts'

/** No lower limit in the browser: what is wrong with an empty file is said by the server, by name. */
const MINIMUM_UPLOAD_BYTES = 0

/** What the file chooser and the drop zone let through: media type to its extensions, as react-dropzone takes it. */
export function acceptedTypes(): Record<string, string[]> {
  const accept: Record<string, string[]> = {}
  for (const [extension, mediaType] of Object.entries(UPLOAD_TYPES)) {
    accept[mediaType] = [...(accept[mediaType] ?? []), `.${extension}`]
  }
  return accept
}

/** The drop zone's own limit has a second guard here, so that nothing larger reaches the callback by any road. */
export function withinSizeLimit(file: { size: number }): boolean {
  return file.size <= MAX_UPLOAD_BYTES
}

/**
 * The four generic texts of specification section 5. react-dropzone 20 writes sizes as "1.08 KB" and leaves out "one
 * of" for a single type, so its error codes are used and its words are not.
 */
export function rejectionMessage(error: { code: string; message: string }): string {
  switch (error.code) {
    case 'file-invalid-type':
      return `File type must be one of ${Object.keys(UPLOAD_TYPES)
        .map((extension) => `.${extension}`)
        .join(', ')}`
    case 'file-too-large':
      return `File is larger than ${MAX_UPLOAD_BYTES} bytes`
    case 'file-too-small':
      return `File is smaller than ${MINIMUM_UPLOAD_BYTES} bytes`
    case 'too-many-files':
      return 'Too many files'
    default:
      return error.message
  }
}
