import type { MarkedToken, Token } from 'marked'
import { Fragment, type JSX, type ReactNode } from 'react'
import { isWebSource } from '#contract/source.ts'
import { useAnswer } from '#web/features/thread/message/answer-context.tsx'
import { CitedText, mayCite } from '#web/features/thread/sources/citation.tsx'
import { decodeEntities, isMarkedToken, isMathsToken, safeHref } from '#web/lib/markdown/markdown.ts'
import { Formula } from './formula.tsx'

/**
 * A link that leaves the page; an address that is not safe to open stays text. One with a query could carry out what the
 * answer was made from, at the bidding of a text that it has read: unless it is a source, it is shown and not linked.
 */
function OuterLink({ href, children }: { href: string; children: ReactNode }): JSX.Element {
  const { sources } = useAnswer()
  const safe = safeHref(href)
  if (safe === null) return <>{children}</>
  const isSource = [...sources.values()].some((source) => isWebSource(source) && source.address === safe)
  if (new URL(safe).search !== '' && !isSource)
    return children === href ? (
      <code>{safe}</code>
    ) : (
      <>
        {children} (<code>{safe}</code>)
      </>
    )
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** Most texts cite and quote nothing: they are set as they are, and nothing about the answer draws them again. */
const plainText = (text: string): ReactNode => (mayCite(text) ? <CitedText text={text} /> : text)

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
      return token.tokens === undefined ? plainText(decodeEntities(token.text)) : inline(token.tokens)
    case 'escape':
      return decodeEntities(token.text)
    default:
      return token.raw
  }
}

function inlineElement(token: Token): ReactNode {
  if (isMathsToken(token)) return <Formula maths={token} />
  return isMarkedToken(token) ? inlineToken(token) : token.raw
}

/** Inline tokens as elements. Raw HTML has no case of its own and so stays the text that it is. */
export function inline(tokens: readonly Token[] | undefined): ReactNode {
  const parts = tokens?.map((token, index) => {
    const part = inlineElement(token)
    return typeof part === 'string' ? part : <Fragment key={index}>{part}</Fragment>
  })
  // A text alone needs no node of its own.
  return parts?.length === 1 && typeof parts[0] === 'string' ? parts[0] : parts
}
