/** Questions with checked answers, as `questions.json` holds them, and how an answer to one is scored. */
import { z } from 'zod'
import { containsText } from '#test/expected-texts.ts'

export const QUESTION_KINDS = [
  'verbatim',
  'number',
  'name',
  'table',
  'list',
  'follow-up',
  'paraphrase',
  'compare',
  'crosslang',
  'aggregate',
  'negative',
  'library',
] as const

/** `page` is null where the format has no pages; each of `texts` stands there and answers. */
const place = z.object({ file: z.string(), page: z.int().nullable(), texts: z.array(z.string()) })
export type Place = z.infer<typeof place>

export const questionSet = z.array(
  z.object({
    id: z.string(),
    kind: z.enum(QUESTION_KINDS),
    question: z.string(),
    /** Id of the question before it in its conversation. */
    followsUp: z.string().nullable(),
    /** Each place answers by itself, but `compare` needs one of every file. */
    files: z.array(place),
    value: z.union([z.string(), z.number()]).nullable(),
  }),
)
export type Question = z.infer<typeof questionSet>[number]

/** A passage of a document; `text` is what stands there. */
export interface Passage {
  readonly file: string
  readonly page: number
  readonly text: string
}

export interface GivenAnswer {
  readonly content: string
  readonly sources: readonly Passage[]
}

const COUNTED_SOURCES = 3

const isAt = ({ file, page }: Passage, wanted: Place): boolean =>
  file === wanted.file && (wanted.page === null || page === wanted.page)

/** Places of each file for `compare`, else all places as alternatives. */
export const alternatives = ({ kind, files }: Question): Place[][] =>
  kind === 'compare' ? [...Map.groupBy(files, ({ file }) => file).values()] : [files]

/** Whether one of the passages stands at one of the places and holds one of its texts. */
export const holdsOneOf = (passages: readonly Passage[], places: readonly Place[]): boolean =>
  passages.some((passage) =>
    places.some((wanted) => isAt(passage, wanted) && wanted.texts.some((text) => containsText(passage.text, text))),
  )

/** "9,373.50" and "9.373,5" are equal. "9,373" may be either. A sign, a percent sign and a currency are no part of it. */
const numbersIn = (text: string): number[] =>
  [...text.normalize('NFKC').matchAll(/\d+(?:[,.' \u00a0\u202f]\d+)*/g)].flatMap(([shown]) => {
    const [whole = '', decimals = ''] = shown.split(/[.,](?=\d+$)/)
    const isGrouped = /^\d{1,3}(?:\D\d{3})+$/.test(shown)
    const digits = (part: string) => part.replaceAll(/\D/g, '')
    return [Number(`${digits(whole)}.${decimals || 0}`), ...(isGrouped ? [Number(digits(shown))] : [])]
  })

export function namesValue(content: string, value: string | number): boolean {
  const wanted = typeof value === 'number' ? value : Number(value.replaceAll(/[,%]/g, ''))
  return Number.isNaN(wanted) ? containsText(content, String(value)) : numbersIn(content).includes(wanted)
}

const SAYS_NOTHING_FOUND = /found nothing in your documents|nothing answers this/i

export const isRefusal = ({ content, sources }: GivenAnswer): boolean =>
  sources.length === 0 || SAYS_NOTHING_FOUND.test(content)

/** By the rules of the collection: see the README of the files. */
export function isRight(question: Question, answer: GivenAnswer): boolean {
  const { kind, files, value } = question
  if (kind === 'negative') return isRefusal(answer)
  if (kind === 'aggregate') return value !== null && namesValue(answer.content, value)
  if (kind === 'library') {
    const namesAll = files.length > 0 && files.every(({ file }) => answer.content.includes(file))
    return namesAll || (files.length === 0 && value !== null && namesValue(answer.content, value))
  }
  if (isRefusal(answer)) return false
  const counted = answer.sources.slice(0, kind === 'compare' ? undefined : COUNTED_SOURCES)
  return alternatives(question).every((places) => {
    const there = counted.filter((source) => places.some((wanted) => isAt(source, wanted)))
    const isSaid = places.some(({ texts }) => texts.some((text) => containsText(answer.content, text)))
    return holdsOneOf(there, places) || (there.length > 0 && isSaid)
  })
}

/** Whether what a model is sent holds an expected text: one of every file for `compare`. */
export const isGiven = (question: Question, sent: string): boolean =>
  alternatives(question).every((places) => places.some(({ texts }) => texts.some((text) => containsText(sent, text))))
