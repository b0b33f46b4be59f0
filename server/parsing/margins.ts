import type { Block } from './sections.ts'

/** Returns header and footer blocks that the body lacks, each once, without page numbers. */
export function findMarginBlocks(margins: Iterable<Block>, body: readonly Block[]): Block[] {
  const seen = new Set(body.map(({ text }) => text))
  const blocks: Block[] = []
  for (const { kind, text } of margins) {
    if (seen.has(text) || !/\p{L}{2}/u.test(text) || /^page\s+\d+(?:\s+of\s+\d+)?$/i.test(text)) continue
    seen.add(text)
    blocks.push({ kind: kind === 'heading' ? 'paragraph' : kind, text })
  }
  return blocks
}
