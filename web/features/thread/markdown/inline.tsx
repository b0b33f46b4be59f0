import type { MarkedToken, Token } from 'marked'
import { Fragment, type ReactNode } from 'react'
import { CitedText, mayCite } from '#web/features/thread/sources/citation.tsx'
import { isDoubtful, type DoubtfulText } from '#web/lib/messages/unverified.ts'
import { decodeEntities, isMarkedToken, isMathsToken, textOf } from '#web/lib/markdown/markdown.ts'
import { Formula } from './formula.tsx'
import { OuterLink } from './outer-link.tsx'

/** Most texts cite and quote nothing: they skip the subscription to the answer's context. */
const plainText = (text: string): ReactNode => (mayCite(text) ? <CitedText text={text} /> : text)

/** Entities in the text move the places of its claims. */
function doubtfulText({ raw, doubts }: DoubtfulText): ReactNode {
  const shownUpTo = (place: number) => decodeEntities(raw.slice(0, place)).length
  const ranges = doubts.map(({ from, to }) => ({ from: shownUpTo(from), to: shownUpTo(to) }))
  return <CitedText text={decodeEntities(raw)} doubts={ranges} />
}

function inlineToken(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>
    case 'em':
      return <em>{inline(token.tokens)}</em>
    case 'del':
      return <del>{inline(token.tokens)}</del>
    case 'codespan':
      return <code translate="no">{decodeEntities(token.text)}</code>
    case 'br':
      return <br />
    case 'link':
      return (
        <OuterLink href={token.href} text={textOf(token.tokens)}>
          {inline(token.tokens)}
        </OuterLink>
      )
    case 'image':
      // A remote image would reveal the reader to its server: offer its address as a link.
      return (
        <OuterLink href={token.href} text={decodeEntities(token.text)}>
          {token.text === '' ? token.href : token.text}
        </OuterLink>
      )
    case 'text':
      return token.tokens === undefined ? plainText(decodeEntities(token.text)) : inline(token.tokens)
    case 'escape':
      return decodeEntities(token.text)
    default:
      return token.raw
  }
}

function inlineElement(token: Token): ReactNode {
  if (isMathsToken(token)) return <Formula maths={token} />
  if (isDoubtful(token)) return doubtfulText(token)
  return isMarkedToken(token) ? inlineToken(token) : token.raw
}

/** Inline tokens as elements. Raw HTML has no case and therefore stays text. */
export function inline(tokens: readonly Token[] | undefined): ReactNode {
  const parts = tokens?.map((token, index) => {
    const part = inlineElement(token)
    return typeof part === 'string' ? part : <Fragment key={index}>{part}</Fragment>
  })
  return parts?.length === 1 && typeof parts[0] === 'string' ? parts[0] : parts
}
