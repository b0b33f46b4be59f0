import { z } from 'zod'
import { withoutNul } from '#server/parsing/page.ts'

export type Rectangle = readonly [left: number, bottom: number, right: number, top: number]

export interface PageNote {
  readonly text: string
  readonly rectangle: Rectangle
  /** Belongs to the text at its location; comments follow the page. */
  readonly isInline: boolean
  /** True for the address of a link, which is no text of the page itself. */
  readonly isAddress?: true
}

export interface PageLink {
  readonly address: string
  /** One for each line that the link covers. */
  readonly rectangles: readonly Rectangle[]
}

/** Hidden or NoView (ISO 32000-2, 12.5.3). */
const UNSEEN_FLAGS = 2 | 32
const COMMENTS = new Set([
  'Text',
  'Highlight',
  'Underline',
  'StrikeOut',
  'Squiggly',
  'Caret',
  'Stamp',
  'Square',
  'Circle',
  'Line',
  'Polygon',
  'PolyLine',
  'Ink',
])
const TYPED = 'FreeText'
const [CHECKED, UNCHECKED] = ['☒', '☐']

const words = z.object({ str: z.string() }).catch({ str: '' })
const annotation = z.object({
  subtype: z.string().catch(''),
  rect: z.tuple([z.number(), z.number(), z.number(), z.number()]),
  annotationFlags: z.number().catch(0),
  hidden: z.boolean().catch(false),
  contentsObj: words,
  titleObj: words,
  fieldType: z.string().nullish().catch(undefined),
  fieldValue: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .catch(undefined),
  textContent: z.array(z.string()).catch([]),
  password: z.boolean().catch(false),
  checkBox: z.boolean().catch(false),
  radioButton: z.boolean().catch(false),
  exportValue: z.string().nullish().catch(undefined),
  buttonValue: z.string().nullish().catch(undefined),
  options: z.array(z.object({ exportValue: z.string(), displayValue: z.string() })).catch([]),
})
type Annotation = z.infer<typeof annotation>

export function readNotes(annotations: readonly unknown[]): PageNote[] {
  return annotations.flatMap((given) => {
    const { data } = annotation.safeParse(given)
    if (!data || data.hidden || (data.annotationFlags & UNSEEN_FLAGS) !== 0) return []
    const isField = data.subtype === 'Widget'
    const text = withoutNul(isField ? fieldText(data) : commentText(data))
      .replaceAll(/\s+/g, ' ')
      .trim()
    return text === '' ? [] : [{ text, rectangle: data.rect, isInline: isField || data.subtype === TYPED }]
  })
}

const linkAnnotation = z.object({
  subtype: z.literal('Link'),
  rect: z.tuple([z.number(), z.number(), z.number(), z.number()]),
  annotationFlags: z.number().catch(0),
  url: z.string(),
  quadPoints: z
    .custom<ArrayLike<number>>((value) => ArrayBuffer.isView(value) || Array.isArray(value))
    .optional()
    .catch(undefined),
})

/** Links to addresses; a link of several lines may consist of several annotations. */
export function readLinks(annotations: readonly unknown[]): PageLink[] {
  const links: { address: string; rectangles: Rectangle[] }[] = []
  let count = 0
  for (const given of annotations) {
    const { data } = linkAnnotation.safeParse(given)
    if (!data || (data.annotationFlags & UNSEEN_FLAGS) !== 0) continue
    const rectangles = (readQuads(data.quadPoints) ?? [normalise(data.rect)]).slice(0, MAX_RECTANGLES - count)
    if (rectangles.length === 0) break
    count += rectangles.length
    const last = links.at(-1)
    if (last?.address === data.url) last.rectangles.push(...rectangles)
    else links.push({ address: data.url, rectangles })
  }
  return links
}

/** All links of a page have at most as many together. */
const MAX_RECTANGLES = 1_000
const QUAD_NUMBERS = 8

const normalise = ([left, bottom, right, top]: Rectangle): Rectangle => [
  Math.min(left, right),
  Math.min(bottom, top),
  Math.max(left, right),
  Math.max(bottom, top),
]

function readQuads(points: ArrayLike<number> | undefined): Rectangle[] | undefined {
  if (!points || points.length < QUAD_NUMBERS) return undefined
  const numbers = Array.from(points)
  return Array.from({ length: Math.floor(numbers.length / QUAD_NUMBERS) }, (_, quad): Rectangle => {
    const corners = numbers.slice(quad * QUAD_NUMBERS, (quad + 1) * QUAD_NUMBERS)
    const [across, down] = [corners.filter((_x, at) => at % 2 === 0), corners.filter((_y, at) => at % 2 === 1)]
    return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)]
  })
}

function fieldText({ fieldType, fieldValue, textContent, options, password, ...button }: Annotation): string {
  if (button.checkBox) return fieldValue === button.exportValue ? CHECKED : UNCHECKED
  if (button.radioButton) return fieldValue === button.buttonValue ? CHECKED : UNCHECKED
  if (password || fieldValue === null || fieldValue === undefined) return ''
  const values = Array.isArray(fieldValue) ? fieldValue : [fieldValue]
  switch (fieldType) {
    case 'Tx':
      // A rich-text value may exist only as its appearance.
      return values.join(' ') || textContent.join(' ')
    case 'Ch':
      return values
        .map((value) => options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value)
        .join(', ')
    default:
      return ''
  }
}

function commentText({ subtype, contentsObj, titleObj }: Annotation): string {
  if (subtype === TYPED) return contentsObj.str
  if (!COMMENTS.has(subtype) || contentsObj.str.trim() === '') return ''
  return titleObj.str.trim() === '' ? contentsObj.str : `${titleObj.str}: ${contentsObj.str}`
}
