import type { Token } from 'marked'
import { memo, useMemo, useState, type JSX } from 'react'
import { citedNumbers } from '#web/lib/citations.ts'
import { advanceMarkdown, emptyMarkdown, lexMarkdown } from '#web/lib/markdown.ts'
import { settledMarkdown } from '#web/lib/settled-markdown.ts'
import { useAnswer } from './answer-context.tsx'
import { Block } from './block.tsx'
import { SourceNote } from './source-note.tsx'
import styles from './markdown.module.css'

/** The blocks of a text that grows: closed ones keep their identity, and with it what was drawn for them. */
function useBlocks(text: string, writing: boolean): readonly Token[] {
  const [growing, setGrowing] = useState(emptyMarkdown)
  const advanced = writing ? advanceMarkdown(growing, settledMarkdown(text)) : growing
  if (advanced !== growing) setGrowing(advanced)
  return useMemo(
    () => (writing ? [...advanced.closed, ...advanced.tail.filter(({ type }) => type !== 'space')] : lexMarkdown(text)),
    [writing, advanced, text],
  )
}

/** For each block the sources that it is the first to cite, as text so that a block is drawn again only if it changes. */
function useFirstCitations(tokens: readonly Token[], numbers: ReadonlySet<number>): string[] {
  return useMemo(() => {
    const seen = new Set<number>()
    return tokens.map(({ raw }) => {
      const fresh = citedNumbers(raw, numbers).filter((n) => !seen.has(n))
      for (const n of fresh) seen.add(n)
      return fresh.join(',')
    })
  }, [tokens, numbers])
}

type AnswerTextProps = {
  text: string
  writing: boolean
  /** Whether sources stand in the margin, beside the block that cites them first. */
  marginNotes: boolean
}

/** The Markdown of an answer, set as a page of a book. */
export function AnswerText({ text, writing, marginNotes }: AnswerTextProps): JSX.Element {
  const { numbers } = useAnswer()
  const tokens = useBlocks(text, writing)
  const firstCitations = useFirstCitations(tokens, numbers)
  return (
    <div className={styles.text}>
      {tokens.map((token, index) => (
        <BlockWithNotes key={index} token={token} notes={marginNotes ? (firstCitations[index] ?? '') : ''} />
      ))}
    </div>
  )
}

const BlockWithNotes = memo(function BlockWithNotes({ token, notes }: { token: Token; notes: string }): JSX.Element {
  return (
    <>
      {notes !== '' && notes.split(',').map((n) => <SourceNote key={n} n={Number(n)} placement="margin" />)}
      <Block token={token} />
    </>
  )
})
