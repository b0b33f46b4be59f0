/** Writes equations (OMML, ECMA-376 part 1, 22.1) as a line of text: `x = (-b ± √(b^2 - 4ac))/(2a)`. */

const EQUATION = /<m:oMath(?:\s[^>]*)?>([\s\S]*?)<\/m:oMath>/g
const AROUND_EQUATIONS = /<\/?m:oMathPara(?:\s[^>]*)?>|<m:oMathParaPr(?:\s[^>]*)?>[\s\S]*?<\/m:oMathParaPr>/g
const TOKEN = /<(\/?)(m:\w+)([^>]*?)(\/?)>|<[^>]*>|([^<]+)/g
const MAX_DEPTH = 100

interface Element {
  readonly name: string
  readonly value: string | undefined
  readonly children: (Element | string)[]
}

export const replaceEquations = (xml: string): string =>
  xml
    .replaceAll(EQUATION, (_, inside: string) => `<w:r><w:t xml:space="preserve">${write(parse(inside))}</w:t></w:r>`)
    .replaceAll(AROUND_EQUATIONS, '')

/** Keeps entities, since the result is XML again. */
function parse(xml: string): Element {
  const root: Element = { name: '', value: undefined, children: [] }
  const open = [root]
  for (const [, slash, name, attributes = '', selfClosing, text] of xml.matchAll(TOKEN)) {
    const parent = open.at(-1) ?? root
    if (text !== undefined) {
      if (parent.name === 'm:t') parent.children.push(text)
    } else if (name === undefined) continue
    else if (slash === '/') {
      if (parent.name === name) open.pop()
    } else {
      const element = { name, value: /m:val="([^"]*)"/.exec(attributes)?.[1], children: [] }
      parent.children.push(element)
      if (selfClosing === '' && open.length < MAX_DEPTH) open.push(element)
    }
  }
  return root
}

const partOf = ({ children }: Element, name: string): Element | undefined =>
  children.find((child): child is Element => typeof child !== 'string' && child.name === name)

const partsOf = ({ children }: Element, name: string): Element[] =>
  children.filter((child): child is Element => typeof child !== 'string' && child.name === name)

const writePart = (element: Element, name: string): string => {
  const part = partOf(element, name)
  return part ? write(part) : ''
}

const propertyOf = (element: Element, properties: string, name: string): string | undefined => {
  const found = partOf(element, properties)
  return found && partOf(found, name)?.value
}

const grouped = (text: string): string => (/^(?:[\p{L}\p{N}.,]*|\([^()]*\))$/u.test(text) ? text : `(${text})`)

const raised = (sign: '^' | '_', text: string): string => (text === '' ? '' : `${sign}${grouped(text)}`)

function write(element: Element): string {
  const part = (name: string) => writePart(element, name)
  const [below, above] = [raised('_', part('m:sub')), raised('^', part('m:sup'))]
  switch (element.name) {
    case 'm:f':
      return `${grouped(part('m:num'))}/${grouped(part('m:den'))}`
    case 'm:sSup':
    case 'm:sSub':
    case 'm:sSubSup':
      return `${grouped(part('m:e'))}${below}${above}`
    case 'm:sPre':
      return `${below}${above}${part('m:e')}`
    case 'm:rad': {
      const degree = part('m:deg')
      return `${degree === '' ? '' : raised('^', degree)}√${grouped(part('m:e'))}`
    }
    case 'm:nary':
      return `${propertyOf(element, 'm:naryPr', 'm:chr') ?? '∫'}${below}${above} ${part('m:e')}`
    case 'm:d': {
      const sign = (name: string, otherwise: string) => propertyOf(element, 'm:dPr', name) ?? otherwise
      const inside = partsOf(element, 'm:e').map(write).join(sign('m:sepChr', '|'))
      return `${sign('m:begChr', '(')}${inside}${sign('m:endChr', ')')}`
    }
    case 'm:func':
      return `${part('m:fName')} ${grouped(part('m:e'))}`
    case 'm:limLow':
      return `${part('m:e')}${raised('_', part('m:lim'))}`
    case 'm:limUpp':
      return `${part('m:e')}${raised('^', part('m:lim'))}`
    case 'm:m':
      return `[${partsOf(element, 'm:mr').map(write).join('; ')}]`
    case 'm:mr':
      return partsOf(element, 'm:e').map(write).join(', ')
    case 'm:eqArr':
      return partsOf(element, 'm:e').map(write).join('; ')
    default:
      return element.children.map((child) => (typeof child === 'string' ? child : write(child))).join('')
  }
}
