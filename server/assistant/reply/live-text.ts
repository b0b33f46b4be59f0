/** The text of an answer on its way to whoever watches: without markers that point nowhere, its sources with the first words. */
import { type Source } from '#contract/source.ts'
import { type Citations, createMarkerFilter } from '#server/assistant/citations/markers.ts'
import { type SourceList } from '#server/assistant/citations/source-list.ts'
import { type ReplyContext } from './context.ts'
import { type Draft } from './draft.ts'
import { type ReplyWriter } from './reply-log.ts'

export interface LiveText {
  readonly push: (text: string) => void
  /** Shows what was held back. */
  readonly end: () => void
  /** What the text cites, and what it goes on from. */
  readonly cited: () => Citations
}

interface LiveTextOptions {
  readonly draft: Draft
  readonly writer: ReplyWriter
  readonly material: ReplyContext
  readonly list: SourceList
}

export function createLiveText({ draft, writer, material, list }: LiveTextOptions): LiveText {
  const { unfinished: previous, trace } = material
  const filter = createMarkerFilter(list.numbers)
  // It goes on where the text stands, perhaps within code.
  filter.push(previous.text)
  filter.end()
  const announced = new Set<number>()
  // A whole document may have thousands of pages: those go out that are cited.
  const isToAnnounce = ({ n }: Source) =>
    !announced.has(n) &&
    (trace?.scope !== 'whole' || filter.cited.has(n) || previous.sources.some((source) => source.n === n))

  function show(shown: string): void {
    if (shown === '') return
    // With the first words, not before: what goes out first is not followed by anything for a tenth of a second.
    for (const source of list.all.filter(isToAnnounce)) {
      announced.add(source.n)
      writer.append({ type: 'source', source })
    }
    draft.hasNewText = true
    draft.text += shown
    writer.append({ type: 'text', text: shown })
  }

  return {
    push: (text) => show(filter.push(text)),
    end: () => show(filter.end()),
    cited: () => filter.cited,
  }
}
