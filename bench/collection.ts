/** Collections in BEIR format: corpus.jsonl, queries.jsonl, qrels.tsv. */
import { createReadStream } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'

const corpusLine = z.object({ _id: z.string(), title: z.string().default(''), text: z.string() })
const queryLine = z.object({ _id: z.string(), text: z.string() })

async function* readLines<T>(file: string, schema: z.ZodType<T>): AsyncGenerator<T> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (line.trim() !== '') yield schema.parse(JSON.parse(line))
  }
}

export const readCorpus = (folder: string) => readLines(path.join(folder, 'corpus.jsonl'), corpusLine)
export const readQueries = (folder: string) => readLines(path.join(folder, 'queries.jsonl'), queryLine)
