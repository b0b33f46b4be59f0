import { htmlToText, type PageText } from '#server/parsing/text/html-text.ts'
import { guardedFetch, type NetworkAccess } from '#server/providers/guarded-fetch.ts'
import { toStorableText } from '#server/providers/storable-text.ts'

const READABLE = ['text/html', 'application/xhtml+xml', 'text/plain', 'application/json']
/** More than questions need, and less than would crowd out the rest of a model's window. */
const MAX_CHARACTERS = 60_000
const HEAD_BYTES = 1_024

export interface WebPage extends PageText {
  readonly address: string
}

function decode(body: Buffer, charset: string | undefined): string {
  const declared =
    charset ?? /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(body.toString('latin1', 0, HEAD_BYTES))?.[1]
  try {
    return new TextDecoder(declared).decode(body)
  } catch {
    // Unknown encoding: UTF-8, the most frequent one, decodes most of the text.
    return new TextDecoder().decode(body)
  }
}

/** @throws AppError with a sentence for the person, or the reason of an aborted signal. */
export async function readWebPage(address: string, signal: AbortSignal, access: NetworkAccess): Promise<WebPage> {
  const { address: found, type, charset, body } = await guardedFetch(address, { ...access, signal, accept: READABLE })
  const decoded = toStorableText(decode(body, charset))
  const isXml = type === 'application/xhtml+xml'
  const { title, text } =
    isXml || type === 'text/html' ? htmlToText(decoded, { isXml }) : { title: '', text: decoded.trim() }
  return {
    address: found,
    title: title.replace(/\s+/g, ' ').trim().slice(0, 300).toWellFormed(),
    text: text.slice(0, MAX_CHARACTERS).toWellFormed(),
  }
}
