/**
 * Parses in a separate, limited process, so that a hostile file cannot exhaust the server's memory or time. The heap limit
 * does not bound array buffers and wasm, so `watch-process.ts` also limits resident memory.
 */
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { DocumentLanguage } from '#contract/document.ts'
import { codeOf, toError } from '#server/base/errors.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import { MAX_DOCUMENT_CHARACTERS, type ParsedPart, type ParseOptions } from '#server/parsing/page.ts'
import { PARSE_LIMITS, type ParseLimits } from './limits.ts'
import { mergeInOrderOfArrival } from './merge-generators.ts'
import { isImage, startParser } from './parser-process.ts'
import { readMessage } from './read-message.ts'
import { readLines } from './read-output.ts'
import { isSmall, type ReusedParsers } from './reused-parsers.ts'
import { createFairSemaphore, type FairSemaphore } from './semaphore.ts'
import type { WarmParsers } from './warm-processes.ts'
import { watchProcess } from './watch-process.ts'

export interface RecognisedPage {
  readonly page: number
  readonly hasText: boolean
}

export interface ParserRun {
  readonly open: () => Promise<Readable>
  readonly size: number
  readonly mimetype: string
  readonly languages?: readonly DocumentLanguage[]
  /** Pages that an interrupted attempt recognised; they are not yielded. */
  readonly alreadyRecognised?: readonly RecognisedPage[]
  /** Limits OCR processes over all files. */
  readonly ocrSemaphore?: FairSemaphore
  readonly owner?: string
  /** Called before the first page waits for OCR, with the number of such pages; from then on this file need not block others. A rejection ends the reading. */
  readonly onOcrStart?: (pages: number) => void | Promise<void>
  readonly warmParsers?: WarmParsers
  /** Read small files of an owner together; by default each has a process of its own. */
  readonly reusedParsers?: ReusedParsers
  readonly signal: AbortSignal
  readonly limits?: ParseLimits
  readonly onProcess?: (pid: number) => void
}

/** Takes about 20 s; then the semaphore chooses the next file. */
const PAGES_PER_PROCESS = 8

/**
 * Yields the number of pages, then the pages with text in order, then the pages from OCR in order of arrival.
 * @throws ParseFailure if the file is at fault, the signal's reason if aborted, another error if a retry may help.
 */
export async function* runParser(run: ParserRun): AsyncGenerator<ParsedPart> {
  const {
    mimetype,
    ocrSemaphore = createFairSemaphore(1),
    owner = '',
    onOcrStart,
    alreadyRecognised: recognisedBefore = [],
  } = run
  const languages = run.languages ?? []
  const deferred: number[] = []
  let recognised = 0
  const work = { owner, remaining: () => deferred.length - recognised }
  const before = new Set(recognisedBefore.map(({ page }) => page))
  const seen = {
    characters: 0,
    text: recognisedBefore.some(({ hasText }) => hasText),
    unreadable: false,
    readable: recognisedBefore.length > 0,
  }
  const note = (part: ParsedPart): ParsedPart => {
    if ('text' in part) {
      seen.characters += part.text.length
      if (seen.characters > MAX_DOCUMENT_CHARACTERS) throw new ParseFailure('too_large')
      seen.text ||= part.text.trim() !== ''
      const isReadable = part.gap !== 'unreadable'
      seen.readable ||= isReadable
      seen.unreadable ||= !isReadable
    }
    return part
  }
  const readFile = () => readWholeFile(run, { languages })
  if (isImage(mimetype)) await onOcrStart?.(before.has(1) ? 0 : 1)
  for await (const part of isImage(mimetype) ? ocrSemaphore.run(run.signal, readFile, work) : readFile()) {
    if ('deferred' in part) {
      if (!before.has(part.deferred)) deferred.push(part.deferred)
    } else if (!('text' in part && before.has(part.page))) yield note(part)
  }
  if (deferred.length > 0) await onOcrStart?.(deferred.length)
  const share = Math.max(1, Math.min(PAGES_PER_PROCESS, Math.ceil(deferred.length / ocrSemaphore.capacity)))
  const batches = Array.from({ length: Math.ceil(deferred.length / share) }, (_, index) =>
    deferred.slice(index * share, (index + 1) * share),
  )
  const stop = new AbortController()
  const signal = AbortSignal.any([run.signal, stop.signal])
  const recognise = (pages: readonly number[]) =>
    ocrSemaphore.run(signal, () => recognisePages({ ...run, signal }, languages, pages), work)
  for await (const part of mergeInOrderOfArrival(batches.map(recognise), () => stop.abort())) {
    if ('text' in part) recognised += 1
    yield note(part)
  }
  if (seen.text) return
  if (seen.unreadable && !seen.readable) throw new ParseFailure('damaged')
  throw new ParseFailure(mimetype.startsWith('image/') ? 'no_text_in_picture' : 'no_text')
}

async function* readWholeFile(run: ParserRun, options: ParseOptions): AsyncGenerator<ParsedPart> {
  const { owner, reusedParsers, limits = PARSE_LIMITS } = run
  const parts =
    owner !== undefined && isSmall(run) ? await reusedParsers?.read({ ...run, owner, limits, options }) : undefined
  yield* parts ?? runProcess(run, options)
}

async function* recognisePages(
  run: ParserRun,
  languages: readonly DocumentLanguage[],
  pages: readonly number[],
): AsyncGenerator<ParsedPart> {
  const tooSlow: number[] = []
  for (let left = pages; left.length > 0;) {
    const deferred: number[] = []
    const read = new Set<number>()
    let recognising: number | undefined
    try {
      for await (const part of runProcess(run, { languages, pages: left, tooSlow })) {
        if ('recognising' in part) recognising = part.recognising
        if ('page' in part) read.add(part.page)
        if ('deferred' in part) deferred.push(part.deferred)
        else yield part
      }
    } catch (error) {
      const slow = recognising
      if (!(error instanceof ParseFailure) || error.code !== 'timed_out' || slow === undefined) throw error
      // A page that takes too long must lose neither the others nor what can be read of it without recognition.
      if (!read.has(slow)) tooSlow.push(slow)
      deferred.push(...left.filter((page) => !read.has(page) && !deferred.includes(page)))
    }
    left = deferred
  }
}

async function* runProcess(
  { open, size, mimetype, signal, limits = PARSE_LIMITS, warmParsers, onProcess }: ParserRun,
  options: ParseOptions,
): AsyncGenerator<ParsedPart> {
  signal.throwIfAborted()
  const bytes = await open()
  const needsOcr = options.pages !== undefined || isImage(mimetype)
  const spec = { mimetype, limits, ...(needsOcr ? { ocrLanguages: options.languages } : {}) }
  const child = warmParsers?.take(spec) ?? startParser(spec)
  const watch = watchProcess(child, signal, limits, size)
  if (child.pid !== undefined) onProcess?.(child.pid)
  child.stdin.write(`${JSON.stringify(options)}\n`)
  const inputSent = pipeline(bytes, child.stdin).catch((error: unknown) => {
    // A process that ended early is judged by its messages or its exit code.
    if (codeOf(error) !== 'EPIPE' && codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE' && codeOf(error) !== 'ECONNRESET')
      watch.end(toError(error))
  })
  let stderrTail = ''
  child.stderr.on('data', (chunk: Buffer) => (stderrTail = (stderrTail + chunk.toString()).slice(-2000)))
  try {
    for await (const line of readLines(child.stdout)) {
      if (watch.reason !== undefined) break
      const message = readMessage(line)
      if ('part' in message) {
        watch.setRecognising('recognising' in message.part)
        yield message.part
      }
      if ('failure' in message) throw new ParseFailure(message.failure, { cause: message.cause })
      // The process waits to be ended, since the first one of a namespace cannot kill itself.
      if ('done' in message) return
    }
    await watch.closed
    if (watch.reason !== undefined) throw watch.reason
    // Node ends by SIGABRT on an exhausted heap.
    if (child.signalCode === 'SIGABRT' || /heap out of memory|allocation failed/i.test(stderrTail))
      throw new ParseFailure('out_of_memory')
    throw new Error(
      `the reader of a ${mimetype} ended early (${child.signalCode ?? child.exitCode ?? 'not started'}): ${stderrTail.slice(-500)}`,
    )
  } finally {
    watch.end(undefined)
    await watch.closed
    await inputSent
  }
}
