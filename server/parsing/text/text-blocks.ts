import type { PageBlock } from '#contract/document.ts'

export function findTextBlocks(text: string): PageBlock[] {
  const blocks: PageBlock[] = []
  for (const { index, 0: piece } of text.matchAll(/\S[\s\S]*?(?=\s*\n\s*\n|\s*$)/g)) {
    const lines = piece.split('\n')
    const rows = lines.filter((line) => line.includes(' | ')).length
    const isTable = rows > 1 && 2 * rows >= lines.length
    const block = { start: index, end: index + piece.length }
    const headerEnd = index + (lines[0] ?? '').length
    blocks.push(isTable ? { kind: 'table', ...block, headerEnd } : { kind: 'paragraph', ...block })
  }
  return blocks
}
