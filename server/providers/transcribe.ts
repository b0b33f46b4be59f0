/** Speech to text at the operator's OpenAI or OpenAI-compatible endpoint. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AppError, messageOf } from '#server/base/errors.ts'
import { traceOperation } from '#server/base/tracing.ts'
import { DEFAULT_BASE_URLS } from './default-base-urls.ts'

interface Endpoint {
  readonly apiKey: string | undefined
  readonly baseUrl: string | undefined
}

export interface TranscriberSettings {
  readonly openai: Endpoint
  readonly compatible: Endpoint
  readonly model: string
  readonly timeoutMs?: number
}

export interface Recording {
  /** Media type in lower case, without parameters. */
  readonly type: string
  /** ISO 639-1. */
  readonly language?: string | undefined
  /** `transcribe` rethrows an AppError of this stream. */
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface Transcriber {
  /** @throws AppError: `unsupported_type`, `too_large`, `rate_limited` or `unavailable`, with a sentence for the person. */
  transcribe(recording: Recording, signal: AbortSignal): Promise<string>
}

const TIMEOUT_MS = 60_000

/** The endpoint detects the format by the file extension, so the file name is never the sender's. */
const FILE_EXTENSIONS: Readonly<Record<string, string>> = {
  'audio/webm': 'webm',
  'audio/ogg': 'ogg',
  'audio/mp4': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/flac': 'flac',
}

const answer = z.looseObject({ text: z.string() })

/** Streams multipart/form-data (RFC 7578) while the recording arrives. */
async function* writeForm(boundary: string, model: string, file: string, { type, language, bytes }: Recording) {
  const encoder = new TextEncoder()
  if (language !== undefined) {
    yield encoder.encode(`--${boundary}\r\ncontent-disposition: form-data; name="language"\r\n\r\n${language}\r\n`)
  }
  yield encoder.encode(
    `--${boundary}\r\ncontent-disposition: form-data; name="model"\r\n\r\n${model}\r\n` +
      `--${boundary}\r\ncontent-disposition: form-data; name="response_format"\r\n\r\njson\r\n` +
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${file}"\r\ncontent-type: ${type}\r\n\r\n`,
  )
  yield* bytes
  yield encoder.encode(`\r\n--${boundary}--\r\n`)
}

function toTranscriptionError(status: number, host: string): AppError {
  if (status === 413) return new AppError('too_large', `The recording is too long for ${host}.`)
  if (status === 429) return new AppError('rate_limited', `${host} is asked too often at the moment.`)
  return new AppError('unavailable', `${host} answered with status ${status} when asked to transcribe.`)
}

export function createTranscriber(settings: TranscriberSettings): Transcriber | null {
  const { openai, compatible, model, timeoutMs = TIMEOUT_MS } = settings
  const { apiKey, baseUrl = DEFAULT_BASE_URLS.OpenAI } = openai.apiKey === undefined ? compatible : openai
  if (openai.apiKey === undefined && compatible.baseUrl === undefined) return null
  const { host } = new URL(baseUrl)
  return {
    async transcribe(recording, signal) {
      const extension = FILE_EXTENSIONS[recording.type]
      if (extension === undefined)
        throw new AppError('unsupported_type', 'The recording is in no audio format that can be transcribed.')
      let uploadError: unknown
      async function* forwardUpload() {
        try {
          yield* recording.bytes
        } catch (error) {
          uploadError = error
          throw error
        }
      }
      const boundary = `alcove-${randomUUID()}`
      const form = writeForm(boundary, model, `recording.${extension}`, { ...recording, bytes: forwardUpload() })
      const timeout = AbortSignal.timeout(timeoutMs)
      try {
        const response = await traceOperation('model', 'transcribe', () =>
          fetch(`${baseUrl}/audio/transcriptions`, {
            method: 'POST',
            headers: {
              'content-type': `multipart/form-data; boundary=${boundary}`,
              ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
            },
            body: ReadableStream.from(form),
            duplex: 'half',
            redirect: 'error',
            signal: AbortSignal.any([signal, timeout]),
          }),
        )
        if (!response.ok) {
          await response.body?.cancel()
          throw toTranscriptionError(response.status, host)
        }
        return answer.parse(await response.json()).text
      } catch (error) {
        if (uploadError instanceof AppError) throw uploadError
        if (error instanceof AppError) throw error
        const reason = timeout.aborted
          ? `did not answer within ${timeoutMs / 1000} seconds`
          : error instanceof z.ZodError
            ? 'answered with something that is no transcript'
            : `cannot be asked: ${messageOf(error)}`
        throw new AppError('unavailable', `${host} ${reason}.`, { cause: error })
      }
    },
  }
}
