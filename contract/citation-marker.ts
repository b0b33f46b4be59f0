/** Citation markers, such as "[2]": a document has at most 10,000 pages, each of which may be a source. */

/** Pattern of one source's number. */
export const SOURCE_NUMBER = String.raw`\d{1,5}`

/** Pattern of one marker; its group is the number. Only numbers of known sources cite: "[2023]" may be a year. */
export const MARKER = String.raw`\[(${SOURCE_NUMBER})\]`

/** Pattern of what is a marker where the sources are unknown: no number that may be a year. */
export const LIKELY_MARKER = String.raw`\[(?!(?:1[5-9]|20)\d\d\])${SOURCE_NUMBER}\]`

/** Without a source, larger numbers in brackets belong to the text. */
export const MAX_MARKER_WITHOUT_SOURCE = 999
