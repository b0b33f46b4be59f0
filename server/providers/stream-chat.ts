/** Streams an answer with the SDK's provider models: the SDK's own loop passes each delta through a dozen streams. */
import type { JSONSchema7, LanguageModel } from 'ai'
import { z } from 'zod'
import { messageOf } from '#server/base/errors.ts'
import type { ChatRequest, ChatTool, ChatTurn, EmitPart } from './chat.ts'
import type { IdleTimeout } from './idle-timeout.ts'
import { retryOnce } from './retry.ts'
import { withTextListener, type TextListener } from './text-deltas.ts'

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>
type CallOptions = Parameters<Model['doStream']>[0]
type Message = CallOptions['prompt'][number]
type AssistantContent = Extract<Message, { role: 'assistant' }>['content']
type ToolContent = Extract<Message, { role: 'tool' }>['content']
type StreamPart = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never
type Call = Extract<StreamPart, { type: 'tool-call' }>
type Finish = Extract<StreamPart, { type: 'finish' }>

export type LoadModel = () => Promise<Model>

interface Output {
  readonly emit: EmitPart
  /** Called before each request: a model may begin each of its steps with thoughts. */
  readonly onStep: () => void
  readonly idleTimeout: IdleTimeout
}

interface Block {
  readonly type: 'text' | 'reasoning'
  text: string
  providerOptions?: NonNullable<Message['providerOptions']>
}

interface StepResult {
  readonly content: AssistantContent
  readonly results: readonly Promise<ToolContent[number]>[]
  readonly finish: Finish
}

/** OpenAI stores answers for a month by default. */
export const NO_PROVIDER_STORAGE = { openai: { store: false } }
/** The provider validates the schema. */
const anySchema = z.custom<JSONSchema7>((schema) => typeof schema === 'object' && schema !== null)
const MAX_COUNT = 2 ** 31 - 1
/** Requests per answer. The last one allows no tool calls, so the model has to write text. */
const MAX_STEPS = 8

/** Some OpenAI-compatible servers send fractions or no counts. */
const toTokenCount = (tokens: number | undefined): number | null =>
  tokens !== undefined && Number.isInteger(tokens) && tokens >= 0 && tokens <= MAX_COUNT ? tokens : null

const sum = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0)

/** Pictures come before the text, as providers recommend, each below its name. */
function toMessage({ role, content, pictures = [] }: ChatTurn): Message {
  const words = { type: 'text' as const, text: content }
  if (role === 'assistant') return { role, content: [words] }
  const shown = pictures.flatMap(({ name, bytes }) => [
    { type: 'text' as const, text: `${name}:` },
    { type: 'file' as const, data: { type: 'data' as const, data: bytes }, mediaType: 'image/jpeg' },
  ])
  return { role, content: [...shown, words] }
}

const toToolDefinition = ({ name, description, parameters }: ChatTool): NonNullable<CallOptions['tools']>[number] => ({
  type: 'function',
  name,
  description,
  inputSchema: anySchema.parse(parameters),
})

/** Resolves after the `finish` part. @throws the error of the provider, or the reason of the signal. */
export async function streamChat(
  load: LoadModel,
  request: ChatRequest,
  { emit, onStep, idleTimeout }: Output,
): Promise<void> {
  const { system, turns, tools = [], maxOutputTokens, signal, onPause } = request
  const prompt: Message[] = [{ role: 'system', content: system }, ...turns.map(toMessage)]
  let [tokensIn, tokensOut]: (number | undefined)[] = []
  const emitText = (type: Block['type'], text: string) => {
    idleTimeout.reset()
    if (text !== '') emit({ type, text })
  }

  for (let step = 1; ; step += 1) {
    const mayCall = step < MAX_STEPS
    onStep()
    const { content, results, finish } = await runStep(
      load,
      {
        prompt: [...prompt],
        abortSignal: signal,
        providerOptions: NO_PROVIDER_STORAGE,
        ...(maxOutputTokens === undefined ? {} : { maxOutputTokens: Math.max(1, maxOutputTokens - (tokensOut ?? 0)) }),
        ...(tools.length === 0
          ? {}
          : { tools: tools.map(toToolDefinition), toolChoice: { type: mayCall ? 'auto' : ('none' as const) } }),
      },
      {
        emitText,
        onPause,
        idleTimeout,
        runTool: mayCall ? (call) => runTool(call, request, emit) : undefined,
      },
    )
    tokensIn = sum(tokensIn, finish.usage.inputTokens.total)
    tokensOut = sum(tokensOut, finish.usage.outputTokens.total)
    if (results.length === 0) {
      const { unified: reason } = finish.finishReason
      return emit({
        type: 'finish',
        tokensIn: toTokenCount(tokensIn),
        tokensOut: toTokenCount(tokensOut),
        isCut: reason === 'length',
        isFiltered: reason === 'content-filter',
      })
    }
    // The provider sends nothing while a tool runs or waits for consent.
    idleTimeout.setPaused(true)
    prompt.push({ role: 'assistant', content }, { role: 'tool', content: await Promise.all(results) })
    idleTimeout.setPaused(false)
  }
}

interface StepOptions {
  readonly emitText: (type: Block['type'], text: string) => void
  readonly onPause: ChatRequest['onPause']
  readonly idleTimeout: IdleTimeout
  readonly runTool: ((call: Call) => Promise<ToolContent[number]>) | undefined
}

async function runStep(
  load: LoadModel,
  options: CallOptions & { readonly abortSignal: AbortSignal },
  { emitText, onPause, idleTimeout, runTool: answerCall }: StepOptions,
): Promise<StepResult> {
  const streamed = { text: '', reasoning: '' }
  const content: AssistantContent = []
  const blocks = new Map<string, Block>()
  const results: Promise<ToolContent[number]>[] = []
  let finish: Finish | undefined

  const listener: TextListener = {
    onText(kind, text) {
      streamed[kind] += text
      emitText(kind, text)
    },
    onActivity: () => idleTimeout.keepAlive(),
    ...(onPause ? { onPause } : {}),
  }
  const model = await load()
  const { stream } = await retryOnce(() => withTextListener(listener, async () => model.doStream(options)), {
    signal: options.abortSignal,
    hasNoOutput: () => streamed.text === '' && streamed.reasoning === '',
  })
  for await (const part of stream) {
    idleTimeout.reset()
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      const block: Block = { type: part.type === 'text-start' ? 'text' : 'reasoning', text: '' }
      blocks.set(`${block.type} ${part.id}`, block)
      content.push(block)
    } else if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const type = part.type === 'text-delta' ? 'text' : 'reasoning'
      const block = blocks.get(`${type} ${part.id}`)
      if (block) block.text += part.delta
      emitText(type, part.delta)
    } else if (part.type === 'tool-call' && answerCall) {
      const { toolCallId, toolName, input, providerMetadata } = part
      const call = { type: 'tool-call' as const, toolCallId, toolName, input: parseArguments(input) ?? {} }
      content.push({ ...call, ...(providerMetadata ? { providerOptions: providerMetadata } : {}) })
      const result = answerCall(part)
      // Prevents an unhandled rejection until all results are awaited.
      result.catch(() => undefined)
      results.push(result)
    } else if (part.type === 'error') throw part.error
    else if (part.type === 'finish') finish = part
    if ('id' in part && 'providerMetadata' in part) {
      // The provider recognises its own blocks by this metadata in the next request.
      const block = blocks.get(`${part.type.startsWith('text') ? 'text' : 'reasoning'} ${part.id}`)
      if (block) block.providerOptions = part.providerMetadata
    }
  }
  if (!finish) throw new Error('the stream ended before it was finished')
  for (const type of ['text', 'reasoning'] as const) {
    if (streamed[type] === '') continue
    const block = blocks.values().find((candidate) => candidate.type === type)
    if (block) block.text += streamed[type]
    else content.unshift({ type, text: streamed[type] })
  }
  const hasContent = (part: AssistantContent[number]) =>
    part.type !== 'text' || part.text !== '' || part.providerOptions !== undefined
  return { content: content.filter(hasContent), results, finish }
}

function parseArguments(input: string): unknown {
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
  emit: EmitPart,
): Promise<ToolContent[number]> {
  const result = { type: 'tool-result' as const, toolCallId, toolName }
  try {
    const tool = tools.find(({ name }) => name === toolName)
    if (!tool) throw new Error(`There is no tool named ${toolName}.`)
    const parsed = parseArguments(input)
    if (parsed === undefined) throw new Error(`The arguments of ${toolName} are not JSON.`)
    return { ...result, output: { type: 'text', value: await tool.run(parsed, signal) } }
  } catch (error) {
    signal.throwIfAborted()
    emit({ type: 'failed-call', name: toolName, error })
    return { ...result, output: { type: 'error-text', value: messageOf(error) } }
  }
}
