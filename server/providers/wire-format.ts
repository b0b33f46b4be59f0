/** The three formats in which model servers stream an answer. */
export type WireFormat = 'chat' | 'responses' | 'messages'

const FORMATS: readonly (readonly [path: string, format: WireFormat])[] = [
  ['/chat/completions', 'chat'],
  ['/responses', 'responses'],
  ['/messages', 'messages'],
]

/** Undefined for requests that no model answers, such as a list of models. */
export const wireFormatOf = ({ pathname }: URL): WireFormat | undefined =>
  FORMATS.find(([path]) => pathname.endsWith(path))?.[1]

export type Json = Readonly<Record<string, unknown>>

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value)

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The mark of the end of an event stream. */
export const DONE = 'data: [DONE]\n\n'

export const writeEvent = (event: Json, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`

export const writeEvents = (events: readonly Json[]): string => events.map((event) => writeEvent(event)).join('')

/** Undefined unless the text is one JSON object. */
export function parseObject(text: string): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return isJson(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}
