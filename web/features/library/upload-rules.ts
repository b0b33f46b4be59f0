import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { MAX_UPLOAD_BYTES } from '#contract/upload-limits.ts'

/** No lower limit in the browser: the server explains by name why an empty file is rejected. */
const MINIMUM_UPLOAD_BYTES = 0

/** Accepted media types with their extensions, as react-dropzone takes them. */
export function acceptedTypes(): Record<string, string[]> {
  const accept: Record<string, string[]> = {}
  for (const [extension, mediaType] of Object.entries(UPLOAD_TYPES)) {
    accept[mediaType] = [...(accept[mediaType] ?? []), `.${extension}`]
  }
  return accept
}

/** Second check of the drop zone's own limit. */
export function withinSizeLimit(file: { size: number }): boolean {
  return file.size <= MAX_UPLOAD_BYTES
}

/**
 * The four texts of specification section 5, by the error codes of react-dropzone 20; its own messages write sizes as
 * "1.08 KB" and omit "one of" for a single type.
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
