/**
 * Some servers send reasoning as text: between tags at the beginning of an answer, before a closing tag whose opening
 * one stands in the prompt, or between the channel marks of OpenAI's open models ("harmony").
 */

const TAGS: readonly (readonly [begin: string, end: string])[] = [
  ...['think', 'thinking', 'thought', 'thoughts', 'reasoning', 'seed:think'].map(
    (name) => [`<${name}>`, `</${name}>`] as const,
  ),
  ['[think]', '[/think]'],
  ['◁think▷', '◁/think▷'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['<|start_thinking|>', '<|end_thinking|>'],
  ['<|channel>thought', '<channel|>'],
]
const CHANNEL_MARKS = ['start', 'channel', 'message', 'end', 'return', 'call', 'constrain'].map((name) => `<|${name}|>`)
const FIRST_MARKS = ['<|start|>', '<|channel|>']
const FINAL_CHANNEL = '<|channel|>final<|message|>'
const FINAL_CHANNELS = [
  `<|end|><|start|>assistant${FINAL_CHANNEL}`,
  `<|start|>assistant${FINAL_CHANNEL}`,
  FINAL_CHANNEL,
]

const BEGINNINGS = [...TAGS.map(([begin]) => begin), ...FIRST_MARKS]
const MAX_TAG_LENGTH = Math.max(...BEGINNINGS.map((tag) => tag.length))
const CLOSINGS = [...TAGS.map(([, end]) => end), ...FINAL_CHANNELS]
const CLOSING = anyOf(CLOSINGS, 'gi')
const OPENING =
  /<(?:think|thinking|thoughts?|reasoning|seed:think)[\s>]|\[think\]|◁think▷|<\|(?:begin_of_thought|start_thinking)\|>/i
const CHANNEL_MARK = anyOf(CHANNEL_MARKS, '')
/** Every tag begins with one of these, so most text needs no further look. */
const TAG_START = /[<[◁]/
/** Characters behind a tag that tell whether a sentence is about it. */
const MENTION_LENGTH = 2
/** Models that think for longer than this before they answer send their thoughts apart. */
const MAX_SEARCHED_LENGTH = 400_000
/** An answer about such tags quotes them; whether a tag stands in code takes a look at all text before it. */
const MAX_QUOTED_TAGS = 20

export interface SplitText {
  readonly reasoning: string
  readonly text: string
  /** All text that was returned before turned out to be reasoning. */
  readonly isThought?: boolean
}

export interface ThinkSplitter {
  push(text: string): SplitText
  /** Returns buffered text that turned out not to begin a tag. */
  end(): SplitText
}

interface FoundTag {
  readonly tag: string
  readonly at: number
}

const NOTHING: SplitText = { reasoning: '', text: '' }

/** Splits reasoning from the answer. Tags after the reasoning belong to the answer. */
export function createThinkSplitter(): ThinkSplitter {
  let state: 'beginning' | 'thinking' | 'ended' | 'searching' | 'channels' | 'answering' = 'beginning'
  let buffered = ''
  let closing = ''
  /** The text so far, in search of a closing tag without its opening one. */
  let searched = ''
  let quoted = 0
  const channels = createChannelReader()

  function push(piece: string): SplitText {
    if (state === 'answering') return { reasoning: '', text: piece }
    if (state === 'channels') return channels.push(piece)
    if (state === 'searching' && buffered === '' && !TAG_START.test(piece)) return show(piece)
    buffered += piece
    if (state === 'beginning') state = begin()
    if (state === 'beginning') return NOTHING
    if (state === 'channels') return channels.push(take())
    if (state === 'thinking') return think()
    return state === 'searching' ? search(take()) : answer()
  }

  function take(): string {
    const taken = buffered
    buffered = ''
    return taken
  }

  /** Stays at the beginning until enough has arrived to know how the answer begins. */
  function begin(): 'beginning' | 'thinking' | 'channels' | 'searching' {
    const trimmed = buffered.trimStart()
    const beginning = lowerAscii(trimmed.slice(0, MAX_TAG_LENGTH))
    if (BEGINNINGS.some((tag) => tag.length > beginning.length && tag.startsWith(beginning))) return 'beginning'
    if (FIRST_MARKS.some((mark) => beginning.startsWith(mark))) return 'channels'
    const tag = TAGS.find(([opening]) => beginning.startsWith(opening))
    if (!tag) return 'searching'
    closing = tag[1]
    buffered = trimmed.slice(tag[0].length)
    return 'thinking'
  }

  function think(): SplitText {
    const at = lowerAscii(buffered).indexOf(closing)
    const length = at === -1 ? buffered.length - partialLength([closing], buffered) : at
    const reasoning = buffered.slice(0, length)
    buffered = buffered.slice(at === -1 ? length : at + closing.length)
    if (at === -1) return { reasoning, text: '' }
    state = 'ended'
    return { reasoning, text: answer().text }
  }

  function answer(): SplitText {
    buffered = buffered.trimStart()
    if (buffered === '') return NOTHING
    state = 'answering'
    return { reasoning: '', text: take() }
  }

  function search(text: string, isEnd = false): SplitText {
    const found = findClosing(text, isEnd)
    if (found && (isEnd || isFollowed(text, found))) return closeThought(text, found)
    const length = found?.at ?? text.length - (isEnd ? 0 : partialLength(CLOSINGS, text))
    buffered = text.slice(length)
    return show(text.slice(0, length))
  }

  function show(text: string): SplitText {
    searched += text
    if (searched.length <= MAX_SEARCHED_LENGTH && quoted <= MAX_QUOTED_TAGS) return { reasoning: '', text }
    state = 'answering'
    return { reasoning: '', text: text + take() }
  }

  /** The first tag that closes a thought, or may close one once more has arrived. */
  function findClosing(text: string, isEnd: boolean): FoundTag | undefined {
    for (const match of text.matchAll(CLOSING)) {
      const found = { tag: lowerAscii(match[0]), at: match.index }
      const before = searched + text.slice(0, found.at)
      // A tag that the answer itself opens, to explain it, is closed by the answer as well.
      if (OPENING.test(before)) quoted = Infinity
      if (quoted > MAX_QUOTED_TAGS) return undefined
      if (!isInCode(before)) {
        const after = text.slice(found.at + found.tag.length)
        if ((!isEnd && !isFollowed(text, found)) || !isMention(before, after)) return found
      }
      quoted += 1
    }
    return undefined
  }

  function closeThought(text: string, { tag, at }: FoundTag): SplitText {
    const isFinalChannel = FINAL_CHANNELS.includes(tag)
    state = isFinalChannel ? 'channels' : 'ended'
    buffered = text.slice(at + tag.length)
    const answered = isFinalChannel ? channels.push(FINAL_CHANNEL + take()) : answer()
    return { isThought: searched !== '', reasoning: text.slice(0, at), text: answered.text }
  }

  return {
    push,
    end() {
      if (state === 'channels') return channels.end()
      const rest = take()
      if (state === 'searching') return search(rest, true)
      return state === 'thinking' ? { reasoning: rest, text: '' } : { reasoning: '', text: rest }
    },
  }
}

function anyOf(tags: readonly string[], flags: string): RegExp {
  return new RegExp(tags.map((tag) => tag.replace(/[|[\]]/g, String.raw`\$&`)).join('|'), flags)
}

/** In full lower case some letters are longer (İ), which would shift positions. */
const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

const isFollowed = (text: string, { tag, at }: FoundTag): boolean => text.length - at - tag.length >= MENTION_LENGTH

/** A sentence names the tag: "it ends with </think>." */
const isMention = (before: string, after: string): boolean =>
  /[\p{L}\p{N},] $/u.test(before.slice(-3)) && /^(?:\p{P}| \p{Ll})/u.test(after)

function isInCode(before: string): boolean {
  const fences = before.match(/^ {0,3}(?:`{3,}|~{3,})/gm)?.length ?? 0
  const line = before.slice(before.lastIndexOf('\n') + 1)
  const isIndented = /^(?: {4}|\t)\s*\S/.test(line)
  return fences % 2 === 1 || isIndented || (line.match(/`/g)?.length ?? 0) % 2 === 1
}

/** Reads `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>`. */
function createChannelReader(): ThinkSplitter {
  let buffered = ''
  let isHeader = true
  let channel = ''
  // Two thoughts after each other are two paragraphs.
  let [hasThought, separator] = [false, '']
  let wasFinal = false
  const isFinal = () => /\bfinal\b/.test(channel)

  function push(piece: string, isEnd = false): SplitText {
    buffered += piece
    let [reasoning, text] = ['', '']
    const write = (words: string) => {
      if (isHeader) channel += words
      else if (isFinal()) text += words
      else if (words !== '') {
        reasoning += separator + words
        ;[hasThought, separator] = [true, '']
      }
    }
    for (;;) {
      const found = CHANNEL_MARK.exec(buffered)
      const length = found?.index ?? buffered.length - (isEnd ? 0 : partialLength(CHANNEL_MARKS, buffered))
      write(buffered.slice(0, length))
      buffered = buffered.slice(length + (found?.[0].length ?? 0))
      if (!found) return { reasoning, text }
      if (found[0] === '<|message|>') {
        isHeader = false
        continue
      }
      if (hasThought) separator = '\n\n'
      if (!isHeader) wasFinal = isFinal()
      if (!isHeader || found[0] === '<|channel|>') channel = ''
      isHeader = true
    }
  }

  /** Without a further channel, what follows the mark of an end belongs to the answer that names it. */
  function end(): SplitText {
    const { reasoning, text } = push('', true)
    return { reasoning, text: isHeader && wasFinal ? text + channel : text }
  }
  return { push, end }
}

/** Length of the longest beginning of a tag at the end of the text. */
function partialLength(tags: readonly string[], text: string): number {
  const end = lowerAscii(text.slice(-Math.max(...tags.map((tag) => tag.length - 1))))
  for (let from = 0; from < end.length; from += 1) {
    const rest = end.slice(from)
    if (tags.some((tag) => tag.startsWith(rest))) return rest.length
  }
  return 0
}

export function withoutThoughts(answer: string): string {
  const splitter = createThinkSplitter()
  const { text } = splitter.push(answer)
  const rest = splitter.end()
  return rest.isThought === true ? rest.text : text + rest.text
}
