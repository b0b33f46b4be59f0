/** The three formats in which model servers stream, or send as a whole, an answer. */

export const event = (name: string | undefined, data: unknown) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

const endedResponse = (isCut: boolean, output: readonly unknown[] = []) => ({
  id: 'r',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: isCut ? 'incomplete' : 'completed',
  incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
  output,
  usage: {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 10,
  },
})

export const FORMATS = {
  Anthropic: {
    identifier: 'claude-sonnet-4-5',
    begin:
      event('message_start', {
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 3, output_tokens: 1 },
        },
      }) +
      event('content_block_start', {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '' },
      }),
    text: (text: string) =>
      event('content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    end: (isCut: boolean) =>
      event('content_block_stop', { type: 'content_block_stop', index: 0 }) +
      event('message_delta', {
        type: 'message_delta',
        delta: { stop_reason: isCut ? 'max_tokens' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 7 },
      }) +
      event('message_stop', { type: 'message_stop' }),
  },
  OpenAI: {
    identifier: 'gpt-5',
    begin:
      event('response.created', {
        type: 'response.created',
        sequence_number: 0,
        response: { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] },
      }) +
      event('response.output_item.added', {
        type: 'response.output_item.added',
        sequence_number: 1,
        output_index: 0,
        item: { type: 'message', id: 'i', status: 'in_progress', role: 'assistant', content: [] },
      }),
    text: (delta: string) =>
      event('response.output_text.delta', {
        type: 'response.output_text.delta',
        sequence_number: 2,
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        delta,
      }),
    end: (isCut: boolean) =>
      event('response.output_item.done', {
        type: 'response.output_item.done',
        sequence_number: 3,
        output_index: 0,
        item: { type: 'message', id: 'i', status: 'completed', role: 'assistant', content: [] },
      }) +
      event(isCut ? 'response.incomplete' : 'response.completed', {
        type: isCut ? 'response.incomplete' : 'response.completed',
        sequence_number: 4,
        response: endedResponse(isCut),
      }),
  },
  'OpenAI-compatible': {
    identifier: 'openai-compatible/m',
    begin: '',
    text: (content: string) =>
      event(undefined, {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
      }),
    end: (isCut: boolean) =>
      event(undefined, {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: {}, finish_reason: isCut ? 'length' : 'stop' }],
      }) +
      event(undefined, {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [],
        usage: { prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 },
      }) +
      'data: [DONE]\n\n',
  },
} as const
export type Format = keyof typeof FORMATS
export const formats = Object.keys(FORMATS) as Format[]

/** A complete answer of each format. */
export const WHOLE: Readonly<Record<Format, (text: string, isCut: boolean) => unknown>> = {
  Anthropic: (text, isCut) => ({
    type: 'message',
    id: 'm',
    model: 'm',
    role: 'assistant',
    content: [{ type: 'text', text }],
    stop_reason: isCut ? 'max_tokens' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 7 },
  }),
  OpenAI: (text, isCut) => {
    const content = [{ type: 'output_text', text, annotations: [] }]
    return endedResponse(isCut, [{ type: 'message', id: 'i', status: 'completed', role: 'assistant', content }])
  },
  'OpenAI-compatible': (content, isCut) => ({
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: isCut ? 'length' : 'stop' }],
  }),
}
