/** Parses a file in a parser process, as the server does, without a database. */
import { Readable } from 'node:stream'
import type { DocumentLanguage } from '#contract/document.ts'
import { detectUploadType } from '#server/documents/upload-type.ts'
import { createByteSource } from '#server/parsing/containers/byte-source.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import type { ParsedPage } from '#server/parsing/page.ts'
import { PARSE_LIMITS, type ParseLimits } from '#server/parsing/sandbox/limits.ts'
import { runParser } from '#server/parsing/sandbox/run-parser.ts'
import type { WarmParsers } from '#server/parsing/sandbox/warm-processes.ts'

export interface ReadOutcome {
  readonly pages: readonly ParsedPage[]
  /** Failure code, or "rejected" if the upload is not accepted. */
  readonly failure?: string
}

export async function readDocument(
  bytes: Uint8Array,
  name: string,
  limits: ParseLimits = PARSE_LIMITS,
  languages: readonly DocumentLanguage[] = [],
  warmParsers?: WarmParsers,
): Promise<ReadOutcome> {
  const mimetype = bytes.length === 0 ? undefined : await detectUploadType(createByteSource(bytes), name)
  if (mimetype === undefined) return { pages: [], failure: 'rejected' }
  const pages: ParsedPage[] = []
  try {
    const run = {
      open: async () => Readable.from([Buffer.from(bytes)]),
      size: bytes.length,
      mimetype,
      signal: new AbortController().signal,
      limits,
      languages,
      ...(warmParsers ? { warmParsers } : {}),
    }
    for await (const part of runParser(run)) if ('text' in part) pages.push(part)
    return { pages: pages.toSorted((one, other) => one.page - other.page) }
  } catch (error) {
    if (error instanceof ParseFailure) return { pages, failure: error.code }
    throw error
  }
}
