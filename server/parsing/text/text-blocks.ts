import type { PageBlock } from '#contract/document.ts'
import { namesColumns } from '#server/parsing/sections.ts'

export function findTextBlocks(text: string): PageBlock[] {
  const blocks: PageBlock[] = []
  for (const { index, 0: piece } of text.matchAll(/\S[\s\S]*?(?=\s*\n\s*\n|\s*$)/g)) {
    const lines = piece.split('\n')
    const rows = lines.filter((line) => line.includes(' | ')).length
    const isTable = rows > 1 && 2 * rows >= lines.length
    const block = { start: index, end: index + piece.length }
    const [first = ''] = lines
    const header = namesColumns(first) ? { headerEnd: index + first.length } : {}
    blocks.push(isTable ? { kind: 'table', ...block, ...header } : { kind: 'paragraph', ...block })
  }
  return blocks
}
