/** The media types under which files are stored and served. None of them runs, styles or frames anything. */
import { parseMediaType } from '#server/base/media-type.ts'

export const UNKNOWN_TYPE = 'application/octet-stream'

/** A browser may show these. PDF is not among them: browsers refuse to show one in a sandbox. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(
  (
    'image/apng image/avif image/bmp image/gif image/heic image/heif image/jpeg image/jxl image/png image/tiff ' +
    'image/vnd.microsoft.icon image/webp image/x-icon ' +
    'audio/aac audio/flac audio/m4a audio/mp4 audio/mpeg audio/ogg audio/opus audio/wav audio/webm audio/x-m4a audio/x-wav ' +
    'video/mp4 video/mpeg video/ogg video/quicktime video/webm video/x-matroska text/plain'
  ).split(' '),
)

const SAVED_TYPES: ReadonlySet<string> = new Set(
  (
    'application/epub+zip application/gzip application/json application/msword application/pdf application/rtf ' +
    'application/vnd.ms-excel application/vnd.ms-outlook application/vnd.ms-powerpoint ' +
    'application/vnd.oasis.opendocument.presentation application/vnd.oasis.opendocument.spreadsheet ' +
    'application/vnd.oasis.opendocument.text ' +
    'application/vnd.openxmlformats-officedocument.presentationml.presentation ' +
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet ' +
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document ' +
    'application/x-7z-compressed application/x-tar application/zip ' +
    'font/otf font/ttf font/woff font/woff2 text/calendar text/csv text/markdown text/tab-separated-values text/vtt'
  ).split(' '),
)

/** Encodings that agree with ASCII. */
const CHARSET = /^(utf-8|us-ascii|iso-8859-\d{1,2}|windows-125\d)$/i

/** Returns a listed `type/subtype`, text with its charset, or `application/octet-stream`. */
export function listedMediaType(declared = ''): string {
  const parsed = parseMediaType(declared)
  if (!parsed || !(SHOWN_TYPES.has(parsed.type) || SAVED_TYPES.has(parsed.type))) return UNKNOWN_TYPE
  const { type, charset = '' } = parsed
  const isText = type.startsWith('text/') || type === 'application/json'
  if (!isText || !CHARSET.test(charset)) return type
  // Clients get their own spelling back.
  return `${type}${declared.includes('; ') ? '; ' : ';'}charset=${charset}`
}

/** `listed` comes from `listedMediaType`. */
export const isShownByBrowsers = (listed: string): boolean => SHOWN_TYPES.has(listed.replace(/;.*/, ''))
