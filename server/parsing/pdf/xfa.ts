/** Labels and values of forms in XFA, whose pages hold nothing but a notice ("Please wait..."). */
import { z } from 'zod'
import { MAX_PAGE_CHARACTERS } from '#server/parsing/page.ts'

interface XfaNode {
  readonly name: string
  readonly value?: string | null | undefined
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
  readonly children?: readonly (XfaNode | null)[] | undefined
}

const node: z.ZodType<XfaNode> = z.lazy(() =>
  z.object({
    name: z.string(),
    value: z.string().nullish(),
    attributes: z.record(z.string(), z.unknown()).optional(),
    children: z.array(node.nullable()).optional(),
  }),
)

/** Notice on the pages of a form for programs that do not know XFA. */
export const XFA_NOTICE = /If this message is not eventually replaced by the proper contents of the document/

/** A line for each label and its value, and for each text between them. */
export function writeXfa(page: unknown): string {
  const { data } = node.safeParse(page)
  return data ? listLines(data).join('\n').slice(0, MAX_PAGE_CHARACTERS) : ''
}

const classesOf = ({ attributes }: XfaNode): readonly unknown[] => {
  const classes = attributes?.['class']
  return Array.isArray(classes) ? (classes as unknown[]) : []
}

const childrenOf = ({ children = [] }: XfaNode): XfaNode[] => children.filter((child) => child !== null)

const NEVER_SHOWN = new Set(['button', 'script', 'style'])
const BLOCKS = new Set(['xfaDraw', 'xfaField', 'xfaExclgroup'])

function isHidden({ name, attributes }: XfaNode): boolean {
  const style = attributes?.['style']
  const shown = typeof style === 'object' && style !== null ? (style as Readonly<Record<string, unknown>>) : {}
  return NEVER_SHOWN.has(name) || shown['display'] === 'none' || shown['visibility'] === 'hidden'
}

function listLines(element: XfaNode): string[] {
  if (isHidden(element)) return []
  const classes = classesOf(element)
  if (classes.some((each) => BLOCKS.has(String(each)))) return [writeField(element)].filter((line) => line !== '')
  if (classes.includes('xfaRow')) {
    const cells = childrenOf(element).map((cell) => listLines(cell).join(' '))
    return cells.some((cell) => cell !== '') ? [cells.join(' | ')] : []
  }
  const own = ownText(element)
  return [...(own === '' ? [] : [own]), ...childrenOf(element).flatMap(listLines)]
}

function writeField(field: XfaNode): string {
  const label = tidy(collect(field, isCaption).join(' '))
  const values = tidy(collectValues(field).join(' '))
  if (label === '' || values === '') return label + values
  if (/^[☒☐]$/.test(values)) return `${values} ${label}`
  return /[:?]$/.test(label) ? `${label} ${values}` : `${label}: ${values}`
}

const isCaption = (element: XfaNode): boolean => classesOf(element).includes('xfaCaption')

/** Texts of the elements that are wanted, with everything inside them. */
function collect(element: XfaNode, isWanted: (element: XfaNode) => boolean): string[] {
  if (isHidden(element)) return []
  if (isWanted(element)) return [textOf(element)]
  return childrenOf(element).flatMap((child) => collect(child, isWanted))
}

const ownText = ({ value, attributes }: XfaNode): string => {
  const content = value ?? attributes?.['textContent']
  return typeof content === 'string' ? tidy(content) : ''
}

const textOf = (element: XfaNode): string =>
  [
    ownText(element),
    ...childrenOf(element)
      .filter((child) => !isHidden(child))
      .map(textOf),
  ]
    .filter(Boolean)
    .join(' ')

function collectValues(element: XfaNode): string[] {
  if (isHidden(element) || isCaption(element)) return []
  const { name, attributes = {} } = element
  if (name === 'input') {
    const type = attributes['type']
    if (type === 'checkbox' || type === 'radio') return [attributes['checked'] === true ? '☒' : '☐']
    return type === 'password' || typeof attributes['value'] !== 'string' ? [] : [attributes['value']]
  }
  if (name === 'select')
    return childrenOf(element)
      .filter((option) => option.attributes?.['selected'] === true)
      .map(ownText)
  return [ownText(element), ...childrenOf(element).flatMap(collectValues)].filter(Boolean)
}

const tidy = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
