import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { writeTinyModel } from '#test/tiny-model.ts'
import { hasModelLibrary, openLocalEmbedder } from './local-embedder.ts'
import { type Prefixes, readModelFolder } from './read-model-folder.ts'

const { signal } = new AbortController()
const MODEL = {
  words: { granny: [1, 0, 0], dwelling: [1, 0, 0], harbour: [0, 1, 0], query: [0, 0, 1], the: [0, 0, 0] },
  unknown: [0, 0, 0.001],
}

async function writeModel(changes: Partial<Parameters<typeof writeTinyModel>[1]> = {}, name = 'tiny'): Promise<string> {
  const parent = await mkdtemp(path.join(tmpdir(), 'alcove-model-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const folder = path.join(parent, name)
  await mkdir(folder)
  await writeTinyModel(folder, { ...MODEL, ...changes })
  return folder
}

const writeJson = async (folder: string, name: string, contents: unknown) => {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
  await writeFile(path.join(folder, name), JSON.stringify(contents))
}

describe('a folder of a model', () => {
  test.each(['config.json', 'tokenizer.json', 'tokenizer_config.json'])('is refused without %s', async (name) => {
    const folder = await writeModel()
    await rm(path.join(folder, name))
    await expect(readModelFolder(folder)).rejects.toMatchObject({
      code: 'startup',
      message: `EMBEDDINGS_PATH is "${folder}", but ${name} is missing there.`,
    })
  })

  test('is refused without weights, where there is none, and where it is a file', async () => {
    const folder = await writeModel()
    await rm(path.join(folder, 'onnx'), { recursive: true })
    await expect(readModelFolder(folder)).rejects.toThrow(
      'but onnx/model.onnx and onnx/model_quantized.onnx are missing there.',
    )
    await expect(readModelFolder(path.join(folder, 'none'))).rejects.toThrow('but there is no such folder.')
    await expect(readModelFolder(path.join(folder, 'config.json'))).rejects.toThrow('but there is no such folder.')
  })

  test('is refused where a file of it cannot be read', async () => {
    const folder = await writeModel()
    await writeFile(path.join(folder, 'config.json'), '<html>')
    await expect(readModelFolder(folder)).rejects.toThrow('but its config.json is not that of a model.')
  })

  test('states its pooling; one that is not known is refused', async () => {
    const folder = await writeModel()
    const poolingOf = async (stated: Record<string, boolean>) => {
      await writeJson(folder, '1_Pooling/config.json', stated)
      return (await readModelFolder(folder)).pooling
    }
    expect((await readModelFolder(folder)).pooling).toBe('mean')
    expect(await poolingOf({ pooling_mode_mean_tokens: true })).toBe('mean')
    expect(await poolingOf({ pooling_mode_cls_token: true })).toBe('cls')
    expect(await poolingOf({ pooling_mode_lasttoken: true })).toBe('last_token')
    await expect(poolingOf({ pooling_mode_max_tokens: true })).rejects.toThrow('wants a pooling other than')
  })

  test.each<[string, string, Record<string, string> | undefined, Prefixes | undefined, Prefixes]>([
    ['none', 'tiny', undefined, undefined, { question: '', passage: '' }],
    ['those of E5', 'multilingual-e5-small', undefined, undefined, { question: 'query: ', passage: 'passage: ' }],
    ['none for a name that only contains it', 'beige5', undefined, undefined, { question: '', passage: '' }],
    ['those that it states', 'tiny', { query: 'q: ', document: 'd: ' }, undefined, { question: 'q: ', passage: 'd: ' }],
    [
      'those of the setting',
      'e5',
      { query: 'q: ' },
      { question: 'x: ', passage: '' },
      { question: 'x: ', passage: '' },
    ],
  ])('has prefixes: %s', async (_which, name, prompts, set, expected) => {
    const folder = await writeModel({}, name)
    if (prompts) await writeJson(folder, 'config_sentence_transformers.json', { prompts })
    expect((await readModelFolder(folder, set)).prefixes).toEqual(expected)
  })

  test('has another key with other weights, another pooling or other prefixes', async () => {
    const folder = await writeModel()
    const { key } = await readModelFolder(folder)
    expect((await readModelFolder(folder)).key).toBe(key)
    expect((await readModelFolder(folder, { question: 'q: ', passage: '' })).key).not.toBe(key)
    expect((await readModelFolder(await writeModel({ unknown: [0, 0, 0.002] }))).key).not.toBe(key)
    await writeJson(folder, '1_Pooling/config.json', { pooling_mode_cls_token: true })
    expect((await readModelFolder(folder)).key).not.toBe(key)
  })
})

/** `npm test` installs the library, unless there is no registry. */
describe.skipIf(!hasModelLibrary())('a model that runs in the server', () => {
  async function open(folder: string, prefixes?: Prefixes) {
    const embedder = await openLocalEmbedder(folder, prefixes)
    onTestFinished(() => embedder.stop())
    return embedder
  }

  const rounded = (vectors: readonly Float32Array[]) =>
    vectors.map((vector) => Array.from(vector, (x) => Math.round(x * 100) / 100))

  test.each(['model', 'model_quantized'] as const)(
    'gives unit vectors, the mean of the words, from %s.onnx',
    async (weights) => {
      const embedder = await open(await writeModel({ weights }))
      const texts = ['Granny', 'the dwelling', 'granny harbour harbour', 'harbour', 'granny', 'dwelling harbour']
      expect(rounded(await embedder.embed(texts, { signal }))).toEqual([
        [1, 0, 0],
        [1, 0, 0],
        [0.45, 0.89, 0],
        [0, 1, 0],
        [1, 0, 0],
        [0.71, 0.71, 0],
      ])
    },
  )

  test('the first token decides where the model says so, and texts are cut where it ends', async () => {
    const folder = await writeModel()
    await writeJson(folder, '1_Pooling/config.json', { pooling_mode_cls_token: true })
    expect(rounded(await (await open(folder)).embed(['harbour granny'], { signal }))).toEqual([[0, 1, 0]])
    const long = `${'granny '.repeat(64)}${'harbour '.repeat(500)}`
    expect(rounded(await (await open(await writeModel())).embed([long], { signal }))).toEqual([[1, 0, 0]])
  })

  test('a question and a passage get their prefixes', async () => {
    const embedder = await open(await writeModel(), { question: 'query ', passage: '' })
    expect(rounded(await embedder.embed(['granny'], { signal, purpose: 'question' }))).toEqual([[0.71, 0, 0.71]])
    expect(rounded(await embedder.embed(['granny'], { signal }))).toEqual([[1, 0, 0]])
  })

  test('a question comes before passages that wait', async () => {
    const embedder = await open(await writeModel())
    const ended: string[] = []
    const passages = embedder
      .embed(
        Array.from({ length: 400 }, () => 'harbour '.repeat(60)),
        { signal },
      )
      .then(() => ended.push('passages'))
    await embedder.embed(['granny'], { signal, purpose: 'question' }).then(() => ended.push('question'))
    await passages
    expect(ended).toEqual(['question', 'passages'])
  })

  test('vectors of another model, and a request that was given up, are refused', async () => {
    const embedder = await open(await writeModel())
    await expect(embedder.embed(['a'], { signal, model: 'text-embedding-3-small' })).rejects.toMatchObject({
      code: 'unavailable',
    })
    const given = new AbortController()
    const request = embedder.embed(['granny'], { signal: given.signal })
    given.abort(new Error('given up'))
    await expect(request).rejects.toThrow('given up')
    expect(rounded(await embedder.embed(['harbour'], { signal }))).toEqual([[0, 1, 0]])
  })

  test('texts that come after the end, or wait for it, are refused at once', { timeout: 30_000 }, async () => {
    const embedder = await open(await writeModel())
    const texts = Array.from({ length: 400 }, () => 'harbour '.repeat(60))
    const begun = [embedder.embed(texts, { signal }), embedder.embed(['granny'], { signal, purpose: 'question' })]
    const ended = Promise.allSettled(begun)
    await embedder.stop()
    const late = Promise.allSettled([embedder.embed(['granny'], { signal, purpose: 'question' })])
    for (const one of [...(await ended), ...(await late)])
      expect(one).toMatchObject({ status: 'rejected', reason: { message: 'The server is stopping.' } })
  })

  test('it wants few texts at a time', async () => {
    expect((await open(await writeModel())).batch).toBe(4)
  })

  test('weights that are no model end the start with a sentence', async () => {
    const folder = await writeModel()
    await writeFile(path.join(folder, 'onnx', 'model.onnx'), 'no model')
    await expect(openLocalEmbedder(folder)).rejects.toMatchObject({
      code: 'startup',
      message: expect.stringMatching(/^EMBEDDINGS_PATH is ".*", but its model does not run: /) as unknown,
    })
  })

  test.runIf(process.platform === 'linux')('its thread has a lower priority than the server', async () => {
    const embedder = await open(await writeModel())
    await embedder.embed(['granny'], { signal })
    const threads = readdirSync('/proc/self/task').filter(
      (id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim() === 'alcove-embed',
    )
    expect(threads).not.toEqual([])
    for (const id of threads) expect(getPriority(Number(id))).toBeGreaterThan(getPriority())
  })
})
