/** Web search at the operator's engine, whose address may be private. */
import { z } from 'zod'
import { AppError, messageOf } from '#server/base/errors.ts'

type SearchProvider = 'searxng' | 'brave' | 'tavily'

export interface SearchSettings {
  readonly provider: SearchProvider | undefined
  readonly url: string | undefined
  readonly apiKey: string | undefined
  readonly timeoutMs?: number
}

export interface SearchResult {
  readonly title: string
  readonly address: string
  readonly snippet: string
}

export interface WebSearch {
  /** Best first. @throws AppError `unavailable` with a sentence for the person, or the reason of an aborted signal. */
  search(words: string, signal: AbortSignal): Promise<SearchResult[]>
}

interface Engine {
  readonly name: string
  readonly base: string
  readonly request: (base: string, words: string, apiKey: string | undefined) => Request
  readonly answer: z.ZodType<SearchResult[]>
}

const TIMEOUT_MS = 10_000
const MAX_RESULTS = 6

const webResult = z.looseObject({ title: z.string().nullish(), url: z.url({ protocol: /^https?$/ }) })

/** Drops entries without a web address: engines also list magnets, places and output of plug-ins. */
const validResults = <Result extends z.ZodType>(result: Result) =>
  z.array(z.unknown()).transform((entries) => entries.flatMap((entry) => result.safeParse(entry).data ?? []))

/** Engines highlight matches with HTML. */
const withoutMarkup = (text: string) => text.replace(/<\/?(?:strong|b|em|mark)>/g, '')

const ENGINES: Readonly<Record<SearchProvider, Engine>> = {
  // https://docs.searxng.org/dev/search_api.html; the instance must allow the format json.
  searxng: {
    name: 'SearXNG',
    base: 'http://127.0.0.1:8080',
    request: (base, words) =>
      new Request(`${base}/search?${new URLSearchParams({ q: words, format: 'json' }).toString()}`),
    answer: z
      .looseObject({ results: validResults(webResult.extend({ content: z.string().nullish() })) })
      .transform(({ results }) =>
        results.map(({ title, url, content }) => ({ title: title ?? '', address: url, snippet: content ?? '' })),
      ),
  },
  // https://api-dashboard.search.brave.com/app/documentation/web-search
  brave: {
    name: 'Brave',
    base: 'https://api.search.brave.com/res/v1',
    request: (base, words, apiKey = '') =>
      new Request(`${base}/web/search?${new URLSearchParams({ q: words, count: String(MAX_RESULTS) }).toString()}`, {
        headers: { accept: 'application/json', 'x-subscription-token': apiKey },
      }),
    answer: z
      .looseObject({
        web: z
          .looseObject({ results: validResults(webResult.extend({ description: z.string().nullish() })) })
          .optional(),
      })
      .transform(({ web }) =>
        (web?.results ?? []).map(({ title, url, description }) => ({
          title: title ?? '',
          address: url,
          snippet: description ?? '',
        })),
      ),
  },
  // https://docs.tavily.com/documentation/api-reference/endpoint/search
  tavily: {
    name: 'Tavily',
    base: 'https://api.tavily.com',
    request: (base, words, apiKey = '') =>
      new Request(`${base}/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ query: words, max_results: MAX_RESULTS }),
      }),
    answer: z
      .looseObject({ results: validResults(webResult.extend({ content: z.string().nullish() })) })
      .transform(({ results }) =>
        results.map(({ title, url, content }) => ({ title: title ?? '', address: url, snippet: content ?? '' })),
      ),
  },
}

export function createWebSearch({ provider, url, apiKey, timeoutMs = TIMEOUT_MS }: SearchSettings): WebSearch | null {
  if (provider === undefined) return null
  const { name, base, request, answer } = ENGINES[provider]
  return {
    async search(words, signal) {
      const timeout = AbortSignal.timeout(timeoutMs)
      try {
        const response = await fetch(request(url ?? base, words, apiKey), {
          signal: AbortSignal.any([signal, timeout]),
          redirect: 'error',
        })
        if (!response.ok) {
          await response.body?.cancel()
          throw new AppError('unavailable', `${name} answered with status ${response.status}.`)
        }
        const results = answer.parse(await response.json())
        return results.slice(0, MAX_RESULTS).map(({ title, address, snippet }) => ({
          title: withoutMarkup(title),
          address,
          snippet: withoutMarkup(snippet),
        }))
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof AppError) throw error
        const reason = timeout.aborted
          ? `did not answer within ${timeoutMs / 1000} seconds`
          : error instanceof z.ZodError
            ? 'answered with something that is no list of results'
            : `cannot be asked: ${messageOf(error)}`
        throw new AppError('unavailable', `${name} ${reason}.`, { cause: error })
      }
    },
  }
}
