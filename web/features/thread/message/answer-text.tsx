import type { Token } from 'marked'
import { memo, useMemo, useState, type JSX } from 'react'
import { useAnswer } from '#web/features/thread/context/answer-context.tsx'
import { WritingContext } from '#web/features/thread/context/writing-context.tsx'
import { MarkdownBlock } from '#web/features/thread/markdown/markdown-block.tsx'
import styles from '#web/features/thread/markdown/markdown.module.css'
import { SourceNote } from '#web/features/thread/sources/source-note.tsx'
import { updateMarkdown, emptyMarkdown, finishMarkdown } from '#web/lib/markdown/markdown.ts'
import { citedNumbers } from '#web/lib/messages/citations.ts'
import { markClaims } from '#web/lib/messages/unverified.ts'

/** Blocks per memoized group, so that a commit compares a few groups instead of every block. */
const GROUP = 16

/** Blocks of growing text; closed ones keep their identity and therefore their rendering. */
function useBlocks(text: string, writing: boolean): readonly Token[] {
  const [growing, setGrowing] = useState(emptyMarkdown)
  const advanced = writing ? updateMarkdown(growing, text) : growing
  if (advanced !== growing) setGrowing(advanced)
  return useMemo(
    () => (writing ? [...advanced.closed, ...advanced.tail] : finishMarkdown(advanced, text)),
    [writing, advanced, text],
  )
}

/** For each block the sources that it cites first, joined to a string so that memoization compares by value. */
function useFirstCitations(tokens: readonly Token[], numbers: ReadonlySet<number>): readonly string[] {
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
  /** Whether sources are shown in the margin, next to the block that cites them first. */
  marginNotes: boolean
}

export function AnswerText({ text, writing, marginNotes }: AnswerTextProps): JSX.Element {
  const { numbers, unverified } = useAnswer()
  const blocks = useBlocks(text, writing)
  const tokens = useMemo(() => markClaims(text, blocks, unverified), [text, blocks, unverified])
  const firstCitations = useFirstCitations(tokens, numbers)
  const groups: JSX.Element[] = []
  for (let from = 0; from < tokens.length; from += GROUP) {
    groups.push(
      <BlockGroup
        key={from}
        tokens={tokens.slice(from, from + GROUP)}
        notes={marginNotes ? firstCitations.slice(from, from + GROUP) : []}
      />,
    )
  }
  return (
    <WritingContext value={writing}>
      <div className={styles.text}>{groups}</div>
    </WritingContext>
  )
}

type BlockGroupProps = { tokens: readonly Token[]; notes: readonly string[] }

const sameItems = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((item, index) => item === other[index])

const BlockGroup = memo(
  function BlockGroup({ tokens, notes }: BlockGroupProps): JSX.Element[] {
    return tokens.map((token, index) => <BlockWithNotes key={index} token={token} notes={notes[index] ?? ''} />)
  },
  (before, now) => sameItems(before.tokens, now.tokens) && sameItems(before.notes, now.notes),
)

const BlockWithNotes = memo(function BlockWithNotes({ token, notes }: { token: Token; notes: string }): JSX.Element {
  return (
    <>
      {notes !== '' && notes.split(',').map((n) => <SourceNote key={n} n={Number(n)} placement="margin" />)}
      <MarkdownBlock token={token} />
    </>
  )
})
