/** Every file type that the library takes. A new type is one row here, and a parser in `server/parsing/parsers.ts`. */
export interface FileType {
  /** Without the dot, the preferred one first. */
  readonly extensions: readonly [string, ...string[]]
  readonly mediaType: string
  /** On the document's row in the library. */
  readonly label: string
  /** In the list of accepted formats in error messages. */
  readonly format: string
  /** The parts that a document of this type consists of; null if it has none. */
  readonly unit: 'page' | 'section' | 'sheet' | null
  readonly viewer: 'pdf' | 'image' | 'text'
  readonly parser: 'pdf' | 'doc' | 'docx' | 'workbook' | 'text' | 'image'
  readonly signature: FileSignature
  readonly isCompressible: boolean
  /** Line breaks in the text may come from a column width. */
  readonly hasHardWraps: boolean
}

/** First bytes, names of OLE streams in lower case, names of zip entries; or any readable text. */
type FileSignature =
  | { readonly kind: 'magic' }
  | { readonly kind: 'ole'; readonly streams: readonly string[] }
  | { readonly kind: 'zip'; readonly entries: readonly RegExp[] }
  | { readonly kind: 'text' }

const PLAIN = { isCompressible: false, hasHardWraps: false } as const
const IMAGE = {
  ...PLAIN,
  label: 'Image',
  unit: null,
  viewer: 'image',
  parser: 'image',
  signature: { kind: 'magic' },
} as const

export const FILE_TYPES = [
  {
    ...PLAIN,
    extensions: ['pdf'],
    mediaType: 'application/pdf',
    label: 'PDF',
    format: 'PDF',
    unit: 'page',
    viewer: 'pdf',
    parser: 'pdf',
    signature: { kind: 'magic' },
  },
  {
    ...PLAIN,
    extensions: ['doc'],
    mediaType: 'application/msword',
    label: 'Word',
    format: 'Word',
    unit: 'section',
    viewer: 'text',
    parser: 'doc',
    signature: { kind: 'ole', streams: ['worddocument'] },
    isCompressible: true,
  },
  {
    ...PLAIN,
    extensions: ['docx'],
    mediaType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    label: 'Word',
    format: 'Word',
    unit: 'section',
    viewer: 'text',
    parser: 'docx',
    signature: { kind: 'zip', entries: [/^word\//] },
  },
  {
    ...PLAIN,
    extensions: ['xls'],
    mediaType: 'application/vnd.ms-excel',
    label: 'Excel',
    format: 'Excel',
    unit: 'sheet',
    viewer: 'text',
    parser: 'workbook',
    signature: { kind: 'ole', streams: ['workbook', 'book'] },
    isCompressible: true,
  },
  {
    ...PLAIN,
    extensions: ['xlsx'],
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    label: 'Excel',
    format: 'Excel',
    unit: 'sheet',
    viewer: 'text',
    parser: 'workbook',
    // Some programs put the workbook into another folder than Excel does.
    signature: { kind: 'zip', entries: [/^xl\//, /(?:^|\/)workbook\.xml$/i] },
  },
  {
    ...PLAIN,
    extensions: ['txt'],
    mediaType: 'text/plain',
    label: 'Text',
    format: 'text',
    unit: 'section',
    viewer: 'text',
    parser: 'text',
    signature: { kind: 'text' },
    isCompressible: true,
    hasHardWraps: true,
  },
  { ...IMAGE, extensions: ['jpg', 'jpeg'], mediaType: 'image/jpeg', format: 'JPEG' },
  { ...IMAGE, extensions: ['png'], mediaType: 'image/png', format: 'PNG' },
] as const satisfies readonly FileType[]

type Row = (typeof FILE_TYPES)[number]

/** Accepted extensions to the media type that is stored and served. */
export const UPLOAD_TYPES = Object.fromEntries(
  FILE_TYPES.flatMap(({ extensions, mediaType }) => extensions.map((extension) => [extension, mediaType])),
) as { readonly [Each in Row as Each['extensions'][number]]: Each['mediaType'] }

const BY_MEDIA_TYPE: ReadonlyMap<string, FileType> = new Map(FILE_TYPES.map((type) => [type.mediaType, type]))

export const fileTypeOf = (mediaType: string): FileType | undefined => BY_MEDIA_TYPE.get(mediaType)
