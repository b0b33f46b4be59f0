import type { MarkedToken, Token, Tokens } from 'marked'
import { memo, type JSX, type ReactNode } from 'react'
import { useAnswer } from '#web/features/thread/context/answer-context.tsx'
import { MisquoteLine } from '#web/features/thread/sources/misquote.tsx'
import { decodeEntities, isMarkedToken, isMathsToken } from '#web/lib/markdown/markdown.ts'
import { directionOf } from '#web/lib/markdown/text-direction.ts'
import { isMisquotedBlock } from '#web/lib/messages/misquotes.ts'
import { CodeBlock } from './code-block.tsx'
import { Formula } from './formula.tsx'
import { inline } from './inline.tsx'
import styles from './markdown.module.css'
import { TableBlock } from './table-block.tsx'

/** The page's heading is level 1; an answer begins at level 2. */
const HEADINGS = ['h2', 'h2', 'h3', 'h4', 'h5', 'h6'] as const

function blocks(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) => <MarkdownBlock key={index} token={token} />)
}

const ListItem = memo(function ListItem({ item, loose }: { item: Tokens.ListItem; loose: boolean }): JSX.Element {
  return (
    <li className={item.task ? styles.task : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="Task" />}
      {item.tokens
        .filter((token) => token.type !== 'checkbox')
        .map((token, index) =>
          token.type === 'text' && !loose && isMarkedToken(token) ? (
            <span key={index}>{inline('tokens' in token ? token.tokens : [token])}</span>
          ) : (
            <MarkdownBlock key={index} token={token} />
          ),
        )}
    </li>
  )
})

function BlockQuote({ quote }: { quote: Tokens.Blockquote }): JSX.Element {
  const { misquotes } = useAnswer()
  return (
    <blockquote dir={directionOf([quote.text])}>
      {blocks(quote.tokens)}
      {isMisquotedBlock(quote.text, misquotes) && <MisquoteLine />}
    </blockquote>
  )
}

/** Whether the closing fence has arrived. */
const isClosedCode = ({ raw }: Tokens.Code): boolean => /\n {0,3}(?:`{3,}|~{3,})\s*$/.test(raw)

function element(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'paragraph':
      return <p dir="auto">{inline(token.tokens)}</p>
    case 'text':
      return <p dir="auto">{inline(token.tokens ?? [token])}</p>
    case 'heading': {
      const Element = HEADINGS[token.depth - 1] ?? 'h6'
      return <Element dir="auto">{inline(token.tokens)}</Element>
    }
    case 'list': {
      const items = token.items.map((item, index) => <ListItem key={index} item={item} loose={token.loose} />)
      const start = Number(token.start)
      const dir = directionOf(token.items.map(({ text }) => text))
      if (!token.ordered) return <ul dir={dir}>{items}</ul>
      return (
        <ol dir={dir} {...(start > 1 ? { start } : {})}>
          {items}
        </ol>
      )
    }
    case 'blockquote':
      return <BlockQuote quote={token} />
    case 'code':
      return <CodeBlock code={token.text} info={token.lang ?? ''} closed={isClosedCode(token)} />
    case 'table':
      return <TableBlock table={token} />
    case 'hr':
      return <hr />
    case 'space':
    case 'def':
      return null
    default:
      return <p dir="auto">{decodeEntities(token.raw)}</p>
  }
}

export const MarkdownBlock = memo(function MarkdownBlock({ token }: { token: Token }): ReactNode {
  if (isMathsToken(token)) return <Formula maths={token} />
  return isMarkedToken(token) ? element(token) : token.raw
})
