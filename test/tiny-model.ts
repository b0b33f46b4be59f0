/** Writes a folder with an embeddings model of a few words, in the layout of Hugging Face: a table of vectors, one for each word. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** A field of a protobuf message: its number, and a whole number, bytes or text. */
type Field = readonly [number: number, value: number | Uint8Array | string]

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80)
    rest = Math.floor(rest / 128)
  }
  return [...bytes, rest]
}

function message(...fields: readonly Field[]): Uint8Array {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.from([...varint(number * 8), ...varint(value)])
      const bytes = typeof value === 'string' ? Buffer.from(value) : value
      return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes])
    }),
  )
}

const FLOAT = 1
const INT64 = 7

/** @param dims a number, or the name of a size that varies */
const tensor = (name: string, type: number, dims: readonly (number | string)[]): Uint8Array => {
  const shape = message(
    ...dims.map((dim): Field => [1, typeof dim === 'number' ? message([1, dim]) : message([2, dim])]),
  )
  return message([1, name], [2, message([1, message([1, type], [2, shape])])])
}

/** ModelProto of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto: one Gather of `rows` by `input_ids`. */
function writeOnnx(rows: readonly (readonly number[])[]): Uint8Array {
  const size = rows[0]?.length ?? 0
  const table = message(
    [1, rows.length],
    [1, size],
    [2, FLOAT],
    [8, 'table'],
    [9, new Uint8Array(Float32Array.from(rows.flat()).buffer)],
  )
  const gather = message([1, 'table'], [1, 'input_ids'], [2, 'last_hidden_state'], [3, 'look_up'], [4, 'Gather'])
  const graph = message(
    [1, gather],
    [2, 'words'],
    [5, table],
    [11, tensor('input_ids', INT64, ['batch', 'tokens'])],
    [11, tensor('attention_mask', INT64, ['batch', 'tokens'])],
    [12, tensor('last_hidden_state', FLOAT, ['batch', 'tokens', size])],
  )
  return message([1, 8], [7, graph], [8, message([1, ''], [2, 13])])
}

export interface TinyModel {
  /** The vector of each word; all others get `unknown`. */
  readonly words: Readonly<Record<string, readonly number[]>>
  readonly unknown: readonly number[]
  readonly weights?: 'model' | 'model_quantized'
}

export async function writeTinyModel(folder: string, { words, unknown, weights = 'model' }: TinyModel): Promise<void> {
  const vocabulary = ['[PAD]', '[UNK]', ...Object.keys(words)]
  const rows = [unknown.map(() => 0), unknown, ...Object.values(words)]
  const special = (content: string, id: number) => ({ id, content, special: true })
  const files = {
    'config.json': { model_type: 'bert', architectures: ['BertModel'], max_position_embeddings: 64 },
    'tokenizer.json': {
      version: '1.0',
      added_tokens: [special('[PAD]', 0), special('[UNK]', 1)],
      normalizer: { type: 'Lowercase' },
      pre_tokenizer: { type: 'Whitespace' },
      post_processor: null,
      decoder: null,
      model: {
        type: 'WordLevel',
        unk_token: '[UNK]',
        vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
      },
    },
    'tokenizer_config.json': { tokenizer_class: 'PreTrainedTokenizerFast', pad_token: '[PAD]', unk_token: '[UNK]' },
  }
  await mkdir(path.join(folder, 'onnx'), { recursive: true })
  for (const [name, contents] of Object.entries(files))
    await writeFile(path.join(folder, name), JSON.stringify(contents))
  await writeFile(path.join(folder, 'onnx', `${weights}.onnx`), writeOnnx(rows))
}
