/** Checks what a parser process writes: a file may have taken it over. */
import { z } from 'zod'
import { itemRun, pageBlock, pageGap, sheetColumns, sheetRow, wordBox } from '#contract/document.ts'
import { FAILURE_CODES } from '#server/parsing/failure.ts'
import type { ParsedPart } from '#server/parsing/page.ts'
import type { ParserMessage } from './parse-messages.ts'

const parserMessage = z.union([
  z.object({
    part: z.union([
      z.object({
        page: z.int(),
        text: z.string(),
        items: z.array(itemRun).optional(),
        headings: z.array(z.tuple([z.int(), z.string()])).optional(),
        blocks: z.array(pageBlock).optional(),
        rows: z.array(sheetRow).optional(),
        columns: sheetColumns.optional(),
        boxes: z.array(wordBox).optional(),
        confidence: z.int().optional(),
        isCut: z.literal(true).optional(),
        gap: pageGap.optional(),
      }),
      z.object({ pages: z.int() }),
      z.object({ recognising: z.int() }),
      z.object({ deferred: z.int() }),
    ]),
  }),
  z.object({ failure: z.enum(FAILURE_CODES), cause: z.string().optional() }),
  z.object({ done: z.literal(true) }),
  z.object({ ready: z.literal(true) }),
])

type CheckedMessage = z.infer<typeof parserMessage>
type CheckedPart = Extract<CheckedMessage, { part: unknown }>['part']

/** @throws an error if the line is no message */
export function readMessage(line: string): ParserMessage {
  const message = parserMessage.parse(JSON.parse(line))
  if ('part' in message) return { part: withoutUndefined(message.part) }
  if ('failure' in message) {
    const { failure, cause } = message
    return { failure, ...(cause === undefined ? {} : { cause }) }
  }
  return message
}

function withoutUndefined(part: CheckedPart): ParsedPart {
  if (!('text' in part)) return part
  const { page, text, items, headings, blocks, rows, columns, boxes, confidence, isCut, gap } = part
  return {
    page,
    text,
    ...(items ? { items } : {}),
    ...(headings ? { headings } : {}),
    ...(blocks ? { blocks } : {}),
    ...(rows ? { rows } : {}),
    ...(columns ? { columns } : {}),
    ...(boxes ? { boxes } : {}),
    ...(confidence === undefined ? {} : { confidence }),
    ...(isCut ? { isCut } : {}),
    ...(gap ? { gap } : {}),
  }
}
