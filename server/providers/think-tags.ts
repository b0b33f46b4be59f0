/** Some servers send reasoning as text between `<think>` and `</think>` at the beginning of an answer. */

const BEGIN = '<think>'
const END = '</think>'

export interface SplitText {
  readonly reasoning: string
  readonly text: string
}

export interface ThinkSplitter {
  push(text: string): SplitText
  /** Returns buffered text that turned out not to begin a tag. */
  end(): SplitText
}

/** Splits reasoning from the answer. Tags after the beginning belong to the answer. */
export function createThinkSplitter(): ThinkSplitter {
  let state: 'beginning' | 'thinking' | 'ended' | 'answering' = 'beginning'
  let buffered = ''

  function push(piece: string): SplitText {
    if (state === 'answering') return { reasoning: '', text: piece }
    buffered += piece
    let reasoning = ''
    if (state === 'beginning') {
      const trimmed = buffered.trimStart()
      if (trimmed.length < BEGIN.length && BEGIN.startsWith(trimmed)) return { reasoning, text: '' }
      state = trimmed.startsWith(BEGIN) ? 'thinking' : 'answering'
      if (state === 'thinking') buffered = trimmed.slice(BEGIN.length)
    }
    if (state === 'thinking') {
      const at = buffered.indexOf(END)
      const length = at === -1 ? buffered.length - partialTagLength(END, buffered) : at
      reasoning = buffered.slice(0, length)
      buffered = at === -1 ? buffered.slice(length) : buffered.slice(at + END.length)
      if (at === -1) return { reasoning, text: '' }
      state = 'ended'
    }
    if (state === 'ended') {
      buffered = buffered.trimStart()
      if (buffered === '') return { reasoning, text: '' }
      state = 'answering'
    }
    const text = buffered
    buffered = ''
    return { reasoning, text }
  }

  return {
    push,
    end() {
      const rest = buffered
      buffered = ''
      return state === 'thinking' ? { reasoning: rest, text: '' } : { reasoning: '', text: rest }
    },
  }
}

/** Length of the longest prefix of the tag at the end of the text. */
function partialTagLength(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(tag.slice(0, length))) return length
  return 0
}

export function withoutThoughts(answer: string): string {
  const splitter = createThinkSplitter()
  return splitter.push(answer).text + splitter.end().text
}
