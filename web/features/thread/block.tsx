import type { MarkedToken, Token, Tokens } from 'marked'
import { memo, type JSX, type ReactNode } from 'react'
import { decodeEntities, isMarkedToken } from '#web/lib/markdown.ts'
import { CodeBlock } from './code-block.tsx'
import { inline } from './inline.tsx'
import styles from './markdown.module.css'

/** The page's own heading is the first level; an answer begins below it. */
const HEADINGS = ['h2', 'h2', 'h3', 'h4', 'h5', 'h6'] as const

function blocks(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) => <Block key={index} token={token} />)
}

function ListItem({ item, loose }: { item: Tokens.ListItem; loose: boolean }): JSX.Element {
  return (
    <li>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="Task" />}
      {item.tokens
        .filter((token) => token.type !== 'checkbox')
        .map((token, index) =>
          token.type === 'text' && !loose && isMarkedToken(token) ? (
            <span key={index}>{inline('tokens' in token ? token.tokens : [token])}</span>
          ) : (
            <Block key={index} token={token} />
          ),
        )}
    </li>
  )
}

function TableBlock({ table }: { table: Tokens.Table }): JSX.Element {
  const cell = (given: Tokens.TableCell, index: number): JSX.Element => {
    const Element = given.header ? 'th' : 'td'
    return (
      <Element key={index} className={given.align === null ? undefined : styles[given.align]}>
        {inline(given.tokens)}
      </Element>
    )
  }
  return (
    <div className={styles.tableFrame} tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>{table.header.map(cell)}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>{row.map(cell)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function element(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>
    case 'text':
      return <p>{inline(token.tokens ?? [token])}</p>
    case 'heading': {
      const Element = HEADINGS[token.depth - 1] ?? 'h6'
      return <Element>{inline(token.tokens)}</Element>
    }
    case 'list': {
      const items = token.items.map((item, index) => <ListItem key={index} item={item} loose={token.loose} />)
      const start = Number(token.start)
      return token.ordered ? <ol {...(start > 1 ? { start } : {})}>{items}</ol> : <ul>{items}</ul>
    }
    case 'blockquote':
      return <blockquote>{blocks(token.tokens)}</blockquote>
    case 'code':
      return <CodeBlock code={token.text} language={token.lang ?? ''} />
    case 'table':
      return <TableBlock table={token} />
    case 'hr':
      return <hr />
    case 'space':
    case 'def':
      return null
    default:
      return <p>{decodeEntities(token.raw)}</p>
  }
}

/** One block of an answer; drawn again only when its token is another one. */
export const Block = memo(function Block({ token }: { token: Token }): ReactNode {
  return isMarkedToken(token) ? element(token) : token.raw
})
