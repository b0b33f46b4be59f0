/** Whole answers in the place of a stream, as some servers and proxies send them, written as events of the stream. */
import { findAnsweredError, toAnsweredError } from './answered-error.ts'
import { isArray, isJson, type Json, textOf, type WireFormat } from './wire-format.ts'

/**
 * One JSON document: a whole answer, or one line of a stream of lines. @throws AnsweredError for an error, and for a
 * document without an answer.
 */
export function toEvents(document: Json, format: WireFormat): readonly Json[] {
  const error = findAnsweredError(document)
  if (error) throw error
  const { type, object } = document
  if (format === 'chat' && isOllamaLine(document)) return [toChunk(document)]
  if (format === 'chat' && (isArray(document['choices']) || isJson(document['usage']))) return [document]
  if (format === 'messages' && type === 'message') return messageEvents(document)
  if (format === 'responses' && object === 'response') return responseEvents(document)
  if (format !== 'chat' && typeof type === 'string') return [document]
  throw toAnsweredError(document)
}

const isOllamaLine = ({ message, done }: Json): boolean => isJson(message) && typeof done === 'boolean'

/** Ollama's own format: `{"message": {"content": "…", "thinking": "…"}, "done": true, "eval_count": 3}`. */
function toChunk({ message, done, done_reason: reason, prompt_eval_count: read, eval_count: written }: Json): Json {
  const { thinking, ...delta } = isJson(message) ? message : {}
  return {
    choices: [
      {
        index: 0,
        delta: { ...delta, ...(typeof thinking === 'string' ? { reasoning_content: thinking } : {}) },
        finish_reason: done === true ? textOf(reason) || 'stop' : null,
      },
    ],
    ...(typeof read === 'number' || typeof written === 'number'
      ? { usage: { prompt_tokens: read, completion_tokens: written } }
      : {}),
  }
}

function messageEvents({ content, stop_reason: reason, usage, ...message }: Json): readonly Json[] {
  const blocks = isArray(content) ? content.filter(isJson) : []
  return [
    { type: 'message_start', message: { ...message, type: 'message', content: [], usage } },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: emptyBlock(block) },
      ...blockDeltas(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: textOf(reason) || 'end_turn' }, usage },
    { type: 'message_stop' },
  ]
}

function emptyBlock(block: Json): Json {
  if (block['type'] === 'text') return { type: 'text', text: '' }
  if (block['type'] === 'thinking') return { type: 'thinking', thinking: '' }
  return block['type'] === 'tool_use' ? { ...block, input: {} } : block
}

function blockDeltas({ type, text, thinking, signature, input }: Json): readonly Json[] {
  if (type === 'text') return [{ type: 'text_delta', text: textOf(text) }]
  if (type === 'tool_use') return [{ type: 'input_json_delta', partial_json: JSON.stringify(input ?? {}) }]
  if (type !== 'thinking') return []
  const signed = typeof signature === 'string' ? [{ type: 'signature_delta', signature }] : []
  return [{ type: 'thinking_delta', thinking: textOf(thinking) }, ...signed]
}

function responseEvents(response: Json): readonly Json[] {
  const { output, status } = response
  const items = isArray(output) ? output.filter(isJson) : []
  return [
    { type: 'response.created', response: { ...response, output: [] } },
    ...items.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item: { ...item, content: [] } },
      ...itemDeltas(item).map((delta) => ({ ...delta, item_id: item['id'], output_index: index, content_index: 0 })),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: status === 'incomplete' ? 'response.incomplete' : 'response.completed', response },
  ]
}

function itemDeltas({ type, content }: Json): readonly Json[] {
  if (type !== 'message' || !isArray(content)) return []
  return content.filter(isJson).map((part) => ({
    type: 'response.output_text.delta',
    delta: textOf(part['text']) || textOf(part['refusal']),
  }))
}
