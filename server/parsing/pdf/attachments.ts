/** Files embedded in a PDF, as text behind its last page. Files that cannot be read are named. */
import { z } from 'zod'
import { FILE_TYPES, type FileType } from '#contract/file-types.ts'
import { ATTACHABLE_PARSERS } from '#server/parsing/attachable-parsers.ts'
import type { Parser } from '#server/parsing/page.ts'

interface AttachingDocument {
  readonly getAttachments: () => Promise<unknown>
  readonly getAttachmentContent: (id: string) => Promise<unknown>
}

const attachment = z.object({ filename: z.string() })
const annotation = z.object({ subtype: z.literal('FileAttachment'), fileId: z.string(), file: attachment })

/** Names of attached files by the number that reads their content. */
export type AttachmentNames = Map<string, string>

/** Files that are attached to the document as a whole. */
export async function listAttachments(document: AttachingDocument): Promise<AttachmentNames> {
  const { data } = z.map(z.string(), attachment).safeParse(await document.getAttachments().catch(() => undefined))
  return new Map([...(data ?? [])].map(([id, { filename }]) => [id, filename]))
}

/** Adds files that are attached to a place on a page. */
export function addPageAttachments(annotations: readonly unknown[], names: AttachmentNames): void {
  for (const given of annotations) {
    const { data } = annotation.safeParse(given)
    if (data) names.set(data.fileId, data.file.filename)
  }
}

const MAX_FILES = 50
const MAX_NAMED_FILES = 200
const MAX_TOTAL_BYTES = 20 * 1024 * 1024
const MAX_CHARACTERS = 400_000
const MAX_NAME_CHARACTERS = 200

const PARSERS: ReadonlyMap<string, FileType['parser']> = new Map([
  ...['md', 'csv', 'tsv', 'xml', 'json', 'log'].map((extension) => [extension, 'text'] as const),
  ...FILE_TYPES.flatMap(({ extensions, parser }) => extensions.map((extension) => [extension, parser] as const)),
])

/** @param parsePdf reads an attached PDF without its own attachments, so that files cannot nest without end. */
export async function readAttachments(
  document: AttachingDocument,
  names: AttachmentNames,
  parsePdf: Parser,
): Promise<string> {
  const written: string[] = []
  let [files, bytes, characters] = [0, 0, 0]
  for (const [id, filename] of [...names].slice(0, MAX_NAMED_FILES)) {
    const name = filename.replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, MAX_NAME_CHARACTERS)
    const parse = await parserOf(name, parsePdf)
    const isLeftOut = !parse || files >= MAX_FILES || bytes >= MAX_TOTAL_BYTES || characters >= MAX_CHARACTERS
    const content = isLeftOut ? undefined : await document.getAttachmentContent(id).catch(() => undefined)
    const file = content instanceof Uint8Array ? content : new Uint8Array()
    const isRead = file.length > 0 && bytes + file.length <= MAX_TOTAL_BYTES
    if (isRead) {
      files += 1
      bytes += file.length
    }
    const text = isRead && parse ? await readFile(file, parse, MAX_CHARACTERS - characters) : undefined
    written.push(text === undefined ? `Attached file, not read: ${name}` : `Attached file: ${name}\n\n${text}`)
    characters += text?.length ?? 0
  }
  return written.join('\n\n')
}

/** Undefined if the file is broken, or holds no text. */
async function readFile(bytes: Uint8Array, parse: Parser, limit: number): Promise<string | undefined> {
  const texts: string[] = []
  let length = 0
  try {
    for await (const part of parse(bytes, { languages: [] })) {
      if (!('text' in part) || part.text.trim() === '') continue
      texts.push(part.text.trim())
      length += part.text.length
      if (length > limit) break
    }
  } catch {
    // A broken attachment must not lose the pages.
    return undefined
  }
  return texts.length === 0 ? undefined : texts.join('\n\n').slice(0, Math.max(0, limit))
}

async function parserOf(name: string, parsePdf: Parser): Promise<Parser | undefined> {
  const parser = PARSERS.get(/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '')
  // Attached pictures would need OCR.
  if (parser === undefined || parser === 'image') return undefined
  return parser === 'pdf' ? parsePdf : (await ATTACHABLE_PARSERS[parser]()).parse
}
