/** Reads files embedded in a Word document (`w:altChunk`): HTML, saved web pages, text. */
import type { Block } from '#server/parsing/sections.ts'
import { decodeText } from '#server/parsing/text/decode-text.ts'
import { htmlToText } from '#server/parsing/text/html-text.ts'
import { findTextBlocks } from '#server/parsing/text/text-blocks.ts'

/** The relation attribute may have any prefix. */
const REFERENCE = /<w:altChunk\s[^>]*?\w:id="([^"]*)"[^>]*?(?:\/>|>[\s\S]*?<\/w:altChunk>)/g

/** Replaces the first reference to each chunk with its mark; repetitions could make a small file large. */
export function markChunks(xml: string, markOf: (relation: string) => string | undefined): string {
  const placed = new Set<string>()
  return xml.replaceAll(REFERENCE, (_, relation: string) => {
    const mark = markOf(relation)
    if (mark === undefined || placed.has(mark)) return ''
    placed.add(mark)
    return `<w:p><w:r><w:t>${mark}</w:t></w:r></w:p>`
  })
}

export function listTargets(relations: string, kind: string): Map<string, string> {
  const targets = new Map<string, string>()
  for (const [relation] of relations.matchAll(/<Relationship\s[^>]*>/g)) {
    const [id, target] = [/\sId="([^"]*)"/.exec(relation)?.[1], /\sTarget="([^"]*)"/.exec(relation)?.[1]]
    const type = /\sType="[^"]*\/([^"/]*)"/.exec(relation)?.[1]
    if (type === kind && id !== undefined && target !== undefined) targets.set(id, target)
  }
  return targets
}

export async function readChunk(bytes: Uint8Array): Promise<Block[]> {
  const content = readContent(bytes)
  const text = content && (await decodeText(content.bytes))
  if (text === undefined) return []
  const shown = content?.isHtml === true ? htmlToText(text, { isDocument: true }).text : text.replaceAll(/\r\n?/g, '\n')
  return findTextBlocks(shown).map(({ kind, start, end }) => ({ kind, text: shown.slice(start, end) }))
}

interface Content {
  readonly bytes: Uint8Array
  readonly isHtml: boolean
}

function readContent(bytes: Uint8Array): Content | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const begin = text.trimStart()
  if (/^MIME-Version:|^Content-Type:/i.test(begin)) return readMimeHtml(begin)
  if (/^\{\\rtf|^PK\u0003\u0004|^%PDF/.test(begin)) return undefined
  return { bytes, isHtml: /<(?:html|body|p|div|table|h[1-6]|span)[\s>]/i.test(text) }
}

function readMimeHtml(text: string): Content | undefined {
  const boundary = /boundary="?([^"\s;]+)/i.exec(text)?.[1]
  const parts = boundary === undefined ? [text] : text.split(`--${boundary}`)
  for (const part of parts) {
    const border = /\r?\n\r?\n/.exec(part.trimStart())
    if (!border) continue
    const head = part.trimStart().slice(0, border.index)
    if (!/Content-Type:\s*text\/html/i.test(head)) continue
    const body = part.trimStart().slice(border.index + border[0].length)
    return { bytes: decodeTransfer(body, /Content-Transfer-Encoding:\s*([\w-]+)/i.exec(head)?.[1] ?? ''), isHtml: true }
  }
  return undefined
}

/** RFC 2045, 6. @param body one character per byte. */
function decodeTransfer(body: string, encoding: string): Uint8Array {
  switch (encoding.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64')
    case 'quoted-printable':
      return Buffer.from(
        body
          .replaceAll(/=[ \t]*\r?\n/g, '')
          .replaceAll(/=([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
        'latin1',
      )
    default:
      return Buffer.from(body, 'latin1')
  }
}
