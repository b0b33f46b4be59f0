/**
 * Models that think, behind servers that do not tell their thoughts from their answers, write them first, between
 * `<think>` and `</think>`.
 */

const BEGIN = '<think>'
const END = '</think>'

export interface Said {
  readonly reasoning: string
  readonly text: string
}

export interface ThinkSplitter {
  push(text: string): Said
  /** What was held back, since it could have been the beginning of a tag. */
  end(): Said
}

/** Tells the thoughts at the beginning of an answer from what follows; tags further on are part of it. */
export function createThinkSplitter(): ThinkSplitter {
  let state: 'beginning' | 'thinking' | 'ended' | 'answering' = 'beginning'
  let held = ''

  function push(given: string): Said {
    if (state === 'answering') return { reasoning: '', text: given }
    held += given
    let reasoning = ''
    if (state === 'beginning') {
      const begun = held.trimStart()
      if (begun.length < BEGIN.length && BEGIN.startsWith(begun)) return { reasoning, text: '' }
      state = begun.startsWith(BEGIN) ? 'thinking' : 'answering'
      if (state === 'thinking') held = begun.slice(BEGIN.length)
    }
    if (state === 'thinking') {
      const at = held.indexOf(END)
      const kept = at === -1 ? held.length - beginningOf(END, held) : at
      reasoning = held.slice(0, kept)
      held = at === -1 ? held.slice(kept) : held.slice(at + END.length)
      if (at === -1) return { reasoning, text: '' }
      state = 'ended'
    }
    if (state === 'ended') {
      held = held.trimStart()
      if (held === '') return { reasoning, text: '' }
      state = 'answering'
    }
    const text = held
    held = ''
    return { reasoning, text }
  }

  return {
    push,
    end() {
      const rest = held
      held = ''
      return state === 'thinking' ? { reasoning: rest, text: '' } : { reasoning: '', text: rest }
    },
  }
}

/** How much of the tag the text ends with. */
function beginningOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(tag.slice(0, length))) return length
  return 0
}

/** The answer alone, where all of it is there. */
export function withoutThoughts(answer: string): string {
  const splitter = createThinkSplitter()
  return splitter.push(answer).text + splitter.end().text
}
