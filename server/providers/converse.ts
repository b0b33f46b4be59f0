/**
 * One answer of a model: as many requests as it calls tools. Over the model that the AI SDK's providers make, not over its
 * own loop, which passes every piece of text through a dozen streams.
 */
// Not `{ type … }`: without its types that is an empty import, and loads the library at every start.
import type { JSONSchema7, LanguageModel } from 'ai'
import { z } from 'zod'
import { messageOf } from '#server/base/errors.ts'
import { type ChatRequest, type ChatTool, type ChatTurn, type GivePart } from './chat.ts'
import { type Silence } from './idle-timeout.ts'
import { sendAgain } from './retry.ts'
import { listenToText, type TextListener } from './stream-text.ts'

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>
type CallOptions = Parameters<Model['doStream']>[0]
type Message = CallOptions['prompt'][number]
type AssistantContent = Extract<Message, { role: 'assistant' }>['content']
type ToolContent = Extract<Message, { role: 'tool' }>['content']
type StreamPart = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never
type Call = Extract<StreamPart, { type: 'tool-call' }>
type Finish = Extract<StreamPart, { type: 'finish' }>

export type LoadModel = () => Promise<Model>

interface Conversation {
  readonly give: GivePart
  readonly silence: Silence
}

interface Block {
  readonly type: 'text' | 'reasoning'
  text: string
  providerOptions?: NonNullable<Message['providerOptions']>
}

/** What one request came to. */
interface Said {
  readonly content: AssistantContent
  readonly results: readonly Promise<ToolContent[number]>[]
  readonly finish: Finish
}

/** OpenAI keeps what it answers for a month unless it is told not to. Others are not told. */
export const NOTHING_KEPT = { openai: { store: false } }
/** The provider is the one to judge a schema. */
const anySchema = z.custom<JSONSchema7>((given) => typeof given === 'object' && given !== null)
const LARGEST_COUNT = 2 ** 31 - 1
/** Requests within one answer; in the last of them it has to answer in words. */
const MOST_STEPS = 8

/** Servers that only resemble the protocol count in fractions, or not at all. */
const countOf = (tokens: number | undefined): number | null =>
  tokens !== undefined && Number.isInteger(tokens) && tokens >= 0 && tokens <= LARGEST_COUNT ? tokens : null

const sum = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0)

/** Each picture below its name; pictures before the words, as providers advise. */
function toMessage({ role, content, pictures = [] }: ChatTurn): Message {
  const words = { type: 'text' as const, text: content }
  if (role === 'assistant') return { role, content: [words] }
  const shown = pictures.flatMap(({ name, bytes }) => [
    { type: 'text' as const, text: `${name}:` },
    { type: 'file' as const, data: { type: 'data' as const, data: bytes }, mediaType: 'image/jpeg' },
  ])
  return { role, content: [...shown, words] }
}

const describe = ({ name, description, parameters }: ChatTool): NonNullable<CallOptions['tools']>[number] => ({
  type: 'function',
  name,
  description,
  inputSchema: anySchema.parse(parameters),
})

/** Resolves when everything was given, `finish` last. @throws what the provider failed with, or the reason of the signal. */
export async function converse(load: LoadModel, request: ChatRequest, { give, silence }: Conversation): Promise<void> {
  const { system, turns, tools = [], signal, onPause } = request
  const prompt: Message[] = [{ role: 'system', content: system }, ...turns.map(toMessage)]
  let [tokensIn, tokensOut]: (number | undefined)[] = []
  // What stands between the words before a call and those after it.
  const written = { hasText: false, separator: '' }
  const say = (type: Block['type'], text: string) => {
    silence.broken()
    if (text === '') return
    give({ type, text: type === 'text' ? written.separator + text : text })
    if (type === 'text') Object.assign(written, { hasText: true, separator: '' })
  }

  for (let step = 1; ; step += 1) {
    const mayCall = step < MOST_STEPS
    const { content, results, finish } = await readAnswer(
      load,
      {
        prompt: [...prompt],
        abortSignal: signal,
        providerOptions: NOTHING_KEPT,
        ...(tools.length === 0
          ? {}
          : { tools: tools.map(describe), toolChoice: { type: mayCall ? 'auto' : ('none' as const) } }),
      },
      {
        say,
        onPause,
        silence,
        run: mayCall ? (call) => runTool(call, request, give) : undefined,
      },
    )
    tokensIn = sum(tokensIn, finish.usage.inputTokens.total)
    tokensOut = sum(tokensOut, finish.usage.outputTokens.total)
    if (results.length === 0) {
      const isCut = finish.finishReason.unified === 'length'
      return give({ type: 'finish', tokensIn: countOf(tokensIn), tokensOut: countOf(tokensOut), isCut })
    }
    // While a tool runs, or waits for leave, the provider has nothing to say.
    silence.allow(true)
    prompt.push({ role: 'assistant', content }, { role: 'tool', content: await Promise.all(results) })
    silence.allow(false)
    if (written.hasText) written.separator = '\n\n'
  }
}

interface Reading {
  readonly say: (type: Block['type'], text: string) => void
  readonly onPause: ChatRequest['onPause']
  readonly silence: Silence
  /** Absent: calls are not answered any more. */
  readonly run: ((call: Call) => Promise<ToolContent[number]>) | undefined
}

async function readAnswer(
  load: LoadModel,
  options: CallOptions & { readonly abortSignal: AbortSignal },
  { say, onPause, silence, run }: Reading,
): Promise<Said> {
  const tapped = { text: '', reasoning: '' }
  const content: AssistantContent = []
  const blocks = new Map<string, Block>()
  const results: Promise<ToolContent[number]>[] = []
  let finish: Finish | undefined

  // Ahead of the SDK's streams, where it can be told from the rest.
  const listener: TextListener = {
    onText(kind, text) {
      tapped[kind] += text
      say(kind, text)
    },
    onSign: () => silence.heard(),
    ...(onPause ? { onPause } : {}),
  }
  const model = await load()
  const { stream } = await sendAgain(() => listenToText(listener, async () => model.doStream(options)), {
    signal: options.abortSignal,
    isUnheard: () => tapped.text === '' && tapped.reasoning === '',
  })
  for await (const part of stream) {
    silence.broken()
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      const block: Block = { type: part.type === 'text-start' ? 'text' : 'reasoning', text: '' }
      blocks.set(`${block.type} ${part.id}`, block)
      content.push(block)
    } else if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const type = part.type === 'text-delta' ? 'text' : 'reasoning'
      const block = blocks.get(`${type} ${part.id}`)
      if (block) block.text += part.delta
      say(type, part.delta)
    } else if (part.type === 'tool-call' && run) {
      const { toolCallId, toolName, input, providerMetadata } = part
      const call = { type: 'tool-call' as const, toolCallId, toolName, input: argumentsOf(input) ?? {} }
      content.push({ ...call, ...(providerMetadata ? { providerOptions: providerMetadata } : {}) })
      const result = run(part)
      // Awaited with the others, once the answer is read.
      result.catch(() => undefined)
      results.push(result)
    } else if (part.type === 'error') throw part.error
    else if (part.type === 'finish') finish = part
    if ('id' in part && 'providerMetadata' in part) {
      // Names by which the provider finds its own words again.
      const block = blocks.get(`${part.type.startsWith('text') ? 'text' : 'reasoning'} ${part.id}`)
      if (block) block.providerOptions = part.providerMetadata
    }
  }
  if (!finish) throw new Error('the stream ended before it was finished')
  for (const type of ['text', 'reasoning'] as const) {
    if (tapped[type] === '') continue
    const block = blocks.values().find((candidate) => candidate.type === type)
    if (block) block.text += tapped[type]
    else content.unshift({ type, text: tapped[type] })
  }
  const isSaid = (part: AssistantContent[number]) =>
    part.type !== 'text' || part.text !== '' || part.providerOptions !== undefined
  return { content: content.filter(isSaid), results, finish }
}

/** Undefined where it is no JSON. */
function argumentsOf(input: string): unknown {
  try {
    return input.trim() === '' ? {} : JSON.parse(input)
  } catch {
    return undefined
  }
}

/** @throws only the reason of an aborted signal. */
async function runTool(
  { toolCallId, toolName, input }: Call,
  { tools = [], signal }: ChatRequest,
  give: GivePart,
): Promise<ToolContent[number]> {
  const result = { type: 'tool-result' as const, toolCallId, toolName }
  try {
    const tool = tools.find(({ name }) => name === toolName)
    if (!tool) throw new Error(`There is no tool named ${toolName}.`)
    const given = argumentsOf(input)
    if (given === undefined) throw new Error(`The arguments of ${toolName} are not JSON.`)
    return { ...result, output: { type: 'text', value: await tool.run(given, signal) } }
  } catch (error) {
    signal.throwIfAborted()
    give({ type: 'failed-call', name: toolName, error })
    return { ...result, output: { type: 'error-text', value: messageOf(error) } }
  }
}
