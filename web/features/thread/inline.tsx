import type { MarkedToken, Token } from 'marked'
import { Fragment, type JSX, type ReactNode } from 'react'
import { decodeEntities, isMarkedToken, safeHref } from '#web/lib/markdown.ts'
import { CitedText } from './citation.tsx'

/** A link that leaves the page; an address that is not safe to open stays text. */
function OuterLink({ href, children }: { href: string; children: ReactNode }): JSX.Element {
  const safe = safeHref(href)
  return safe === null ? (
    <>{children}</>
  ) : (
    <a href={safe} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
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
      return <code>{decodeEntities(token.text)}</code>
    case 'br':
      return <br />
    case 'link':
      return <OuterLink href={token.href}>{inline(token.tokens)}</OuterLink>
    case 'image':
      // An image from elsewhere would tell its server who reads this answer: only its address is offered.
      return <OuterLink href={token.href}>{token.text === '' ? token.href : token.text}</OuterLink>
    case 'text':
      return token.tokens === undefined ? <CitedText text={decodeEntities(token.text)} /> : inline(token.tokens)
    case 'escape':
      return decodeEntities(token.text)
    default:
      return token.raw
  }
}

/** Inline tokens as elements. Raw HTML has no case of its own and so stays the text that it is. */
export function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, index) => (
    <Fragment key={index}>{isMarkedToken(token) ? inlineToken(token) : token.raw}</Fragment>
  ))
}
