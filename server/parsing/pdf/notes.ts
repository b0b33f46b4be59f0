import { z } from 'zod'
import { withoutNul } from '#server/parsing/page.ts'

export type Rectangle = readonly [left: number, bottom: number, right: number, top: number]

export interface PageNote {
  readonly text: string
  readonly rectangle: Rectangle
  /** Belongs to the text at its location; comments follow the page. */
  readonly isInline: boolean
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
