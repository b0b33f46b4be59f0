/** From the paragraph or its style; `level` counts from 0. */
export interface ParagraphKind {
  readonly heading?: number
  readonly list?: string
  readonly level?: number
}

export interface ParagraphStyles {
  readonly kindOf: (styleId: string) => ParagraphKind
  readonly ancestry: (styleId: string) => readonly string[]
}

interface Style {
  readonly name: string
  readonly parent: string | undefined
  readonly properties: string
}

const STYLE = /<w:style\s([^>]*)>([\s\S]*?)<\/w:style>/g
const MAX_ANCESTRY = 12
const MAX_HEADING_LEVEL = 6

export const readValue = (xml: string, name: string): string | undefined =>
  new RegExp(`<w:${name}\\s[^>]*?w:val="([^"]*)"`).exec(xml)?.[1]

export function readStyles(xml: string): ParagraphStyles {
  const styles = new Map<string, Style>()
  for (const [, attributes = '', inside = ''] of xml.matchAll(STYLE)) {
    const id = /w:styleId="([^"]*)"/.exec(attributes)?.[1]
    if (id === undefined) continue
    const properties = /<w:pPr>([\s\S]*?)<\/w:pPr>/.exec(inside)?.[1] ?? ''
    styles.set(id, { name: readValue(inside, 'name') ?? '', parent: readValue(inside, 'basedOn'), properties })
  }
  const ancestry = (styleId: string): string[] => {
    const ids: string[] = []
    for (let id: string | undefined = styleId; id !== undefined && ids.length < MAX_ANCESTRY;) {
      ids.push(id)
      id = styles.get(id)?.parent
    }
    return ids
  }
  return {
    ancestry,
    kindOf: (styleId) =>
      ancestry(styleId).reduce<ParagraphKind>((nearer, id) => {
        const style = styles.get(id)
        return style ? { ...ownKind(style), ...nearer } : nearer
      }, {}),
  }
}

function ownKind({ name, properties }: Style): ParagraphKind {
  const named = /^heading ([1-6])$/i.exec(name)?.[1] ?? (/^title$/i.test(name) ? '1' : undefined)
  return { ...(named === undefined ? {} : { heading: Number(named) }), ...readKind(properties) }
}

export function readKind(properties: string): ParagraphKind {
  const outline = readValue(properties, 'outlineLvl')
  const list = readValue(properties, 'numId')
  const level = readValue(properties, 'ilvl')
  return {
    ...(outline === undefined ? {} : { heading: Number(outline) + 1 }),
    ...(list === undefined ? {} : { list }),
    ...(level === undefined ? {} : { level: Number(level) }),
  }
}

export const headingLevel = ({ heading }: ParagraphKind): number | undefined =>
  heading !== undefined && heading <= MAX_HEADING_LEVEL ? heading : undefined
