import type { Source } from '#contract/source.ts'
import { type Citations, createMarkerFilter } from '#server/assistant/citations/markers.ts'
import type { SourceList } from '#server/assistant/citations/source-list.ts'
import type { ReplyContext } from './context.ts'
import type { ReplyWriter } from './reply-log.ts'

export interface LiveText {
  readonly push: (text: string) => void
  readonly end: () => void
  /** Takes back what was pushed, because it was no answer. Returns it. */
  readonly withdraw: () => string
  readonly result: () => { readonly text: string; readonly hasNewText: boolean; readonly citations: Citations }
}

interface LiveTextOptions {
  readonly writer: ReplyWriter
  readonly context: ReplyContext
  readonly sourceList: SourceList
}

export function createLiveText({ writer, context, sourceList }: LiveTextOptions): LiveText {
  const { unfinished, trace } = context
  const beginFilter = () => {
    const begun = createMarkerFilter(sourceList.numbers)
    // The continuation may begin inside code, where markers do not count.
    begun.push(unfinished.text)
    begun.end()
    return begun
  }
  let filter = beginFilter()
  let { text } = unfinished
  let hasNewText = false
  const sent = new Set<number>()
  // A whole document may have thousands of pages, so only cited ones are sent.
  const isToSend = ({ n }: Source) =>
    !sent.has(n) &&
    (trace?.scope !== 'whole' || filter.cited.has(n) || unfinished.sources.some((source) => source.n === n))

  function show(shown: string): void {
    if (shown === '') return
    // Sent with the first words: after a flush, the next one waits 100 ms.
    for (const source of sourceList.all.filter(isToSend)) {
      sent.add(source.n)
      writer.append({ type: 'source', source })
    }
    hasNewText = true
    text += shown
    writer.append({ type: 'text', text: shown })
  }

  return {
    push: (pushed) => show(filter.push(pushed)),
    end: () => show(filter.end()),
    withdraw() {
      const withdrawn = text.slice(unfinished.text.length) + filter.end()
      filter = beginFilter()
      text = unfinished.text
      hasNewText = false
      writer.append({ type: 'thought', text })
      return withdrawn
    },
    result: () => ({ text, hasNewText, citations: filter.cited }),
  }
}
