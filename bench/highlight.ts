/**
 * Compares the viewer's mark of a word with its position in `pdftotext -bbox` (Debian: poppler-utils): `npm run bench
 * -- highlight <pdf> [words] [width of the window]`. Pixels at scale 1; words occur once on their page.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { createClient } from '@supabase/supabase-js'
import { chromium, type Page as BrowserPage } from 'playwright-core'
import { z } from 'zod'
import { type PageText, pageText, uploadAnswer, documentRow } from '#contract/document.ts'
import { quantile, rounded } from './measure.ts'
import { type SignedIn, startSignedIn } from './signed-in.ts'

interface Box {
  readonly word: string
  readonly left: number
  readonly top: number
  readonly bottom: number
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}
const WORDS_PER_PAGE = 20
/** Twentieths of a second. */
const MOST_TRIES = 60

/** In points; only the words that occur once on the page. */
interface Page {
  readonly width: number
  readonly height: number
  readonly boxes: readonly Box[]
}

async function referenceOf(file: string): Promise<Page[]> {
  const ask = async (program: string, args: readonly string[]) =>
    (await promisify(execFile)(program, args, { maxBuffer: 256 * 1024 * 1024 })).stdout
  const turns = [...(await ask('pdfinfo', ['-f', '1', '-l', '-1', file])).matchAll(/^Page +\d+ rot: +(\d+)/gm)]
  return (await ask('pdftotext', ['-bbox', '-cropbox', file, '-']))
    .split('<page ')
    .slice(1)
    .map((page, index) => {
      const boxes = [...page.matchAll(/<word xMin="(\S+)" yMin="(\S+)" xMax="\S+" yMax="(\S+)">(.*?)<\/word>/g)].map(
        ([, left, top, bottom, word = '']) => ({
          word: word.replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity),
          left: Number(left),
          top: Number(top),
          bottom: Number(bottom),
        }),
      )
      const counts = new Map<string, number>()
      for (const { word } of boxes) counts.set(word, (counts.get(word) ?? 0) + 1)
      const [, ...size] = /^width="(\S+)" height="(\S+)"/.exec(page) ?? []
      // Word positions refer to the rotated page, the page size to the unrotated one.
      const [width, height] = Number(turns[index]?.[1]) % 180 === 90 ? size.toReversed() : size
      return {
        width: Number(width),
        height: Number(height),
        boxes: boxes.filter(({ word }) => counts.get(word) === 1 && /^[\p{L}\p{N}]{3,}$/u.test(word)),
      }
    })
}

const place = z.object({ word: z.string(), left: z.number(), middle: z.number() }).nullable()

/** Runs in the page: where the marked passage begins, as shares of its page; null until the position is final. */
const MEASURE = `(number) => {
  const sheet = document.querySelector('[data-page="' + number + '"]')
  const [marked] = CSS.highlights.get('source-passage') ?? []
  if (!marked || !sheet?.contains(marked.startContainer) || !sheet.querySelector('[data-fitted="true"]')) return null
  const [box] = marked.getClientRects()
  if (!box) return null
  const paper = sheet.getBoundingClientRect()
  return {
    word: marked.toString(),
    left: (box.left - paper.left) / paper.width,
    middle: (box.top + box.height / 2 - paper.top) / paper.height,
  }
}`

interface Cited extends Box {
  readonly page: number
  readonly start: number
}

/** Words with a unique position, evenly from the first to the last page. */
function choose(boxes: readonly Box[], { page, text }: PageText): Cited[] {
  const step = Math.ceil(boxes.length / WORDS_PER_PAGE)
  return boxes
    .filter((_, position) => position % step === 0)
    .flatMap((box) => {
      const found = [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${box.word}(?![\\p{L}\\p{N}])`, 'gu'))]
      // A word that pdftotext joins with its neighbours may also occur elsewhere.
      return found[0] && found.length === 1 ? [{ ...box, page, start: found[0].index }] : []
    })
}

/** Stores an answer that cites every word, as only the operator may; returns the conversation's id. */
async function storeAnswer(session: SignedIn, documentId: string, cited: readonly Cited[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/keys.ts'], {
    env: { ...process.env, DATA_DIR: session.dataDir },
  })
  const { serviceRoleKey } = z.object({ serviceRoleKey: z.string() }).parse(JSON.parse(stdout))
  const operator = createClient(session.alcove.url, serviceRoleKey, { auth: { persistSession: false } })
  const id = randomUUID()
  const sources = cited.map(({ page, start, word }, index) => ({
    n: index + 1,
    documentId,
    filename: 'bench.pdf',
    page,
    start,
    end: start + word.length,
    text: word,
    score: 1,
  }))
  const content = sources.map(({ n }) => `Word [${n}].`).join(' ')
  for (const { error } of [
    await operator
      .from('conversations')
      .insert({ id, uid: session.userId, title: 'Words', model_name: 'alcove-reader' }),
    await operator.from('messages').insert({ conversation_id: id, content, sender_role: 2, metadata: { sources } }),
  ])
    if (error) throw error
  return id
}

export async function run([file = '', words = '200', width = '1440']: string[]): Promise<Record<string, unknown>> {
  const pages = await referenceOf(file)
  const session = await startSignedIn()
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const shown = await browser.newPage({ viewport: { width: Number(width), height: 900 } })
    return await measure({ file, pages, session, shown, words: Number(words) })
  } finally {
    await browser.close()
    await session.close()
  }
}

interface Stage {
  readonly file: string
  readonly pages: readonly Page[]
  readonly session: SignedIn
  readonly shown: BrowserPage
  readonly words: number
}

async function measure({ file, pages, session, shown, words }: Stage): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${session.token}` }
  const get = async (where: string): Promise<unknown> =>
    (await fetch(`${session.alcove.url}/api/documents/${where}`, { headers })).json()
  const form = new FormData()
  form.append('files', new File([new Uint8Array(await readFile(file))], 'bench.pdf'))
  const uploaded = await fetch(`${session.alcove.url}/api/documents`, { method: 'POST', body: form, headers })
  const id = uploadAnswer.parse(await uploaded.json()).documents[0]?.id ?? ''
  for (let state = ''; state !== 'ready';) {
    ;({ state } = documentRow.parse(await get(id)))
    if (state === 'failed') throw new Error(`${file} cannot be read`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }

  await shown.goto(session.alcove.url)
  await shown.getByText('Use test account').click()
  await shown.getByRole('button', { name: 'Sign in', exact: true }).click()
  await shown.getByRole('textbox').first().waitFor()
  const cited: Cited[] = []
  for (const [index, { boxes }] of pages.entries()) {
    if (cited.length >= words) break
    if (boxes.length >= WORDS_PER_PAGE)
      cited.push(...choose(boxes, pageText.parse(await get(`${id}/pages/${index + 1}`))))
  }
  if (cited.length === 0) throw new Error(`no word of ${file} stands at one place only`)
  await shown.goto(`${session.alcove.url}/?chat=${await storeAnswer(session, id, cited)}`)
  await shown
    .getByRole('button', { name: /Source 1: / })
    .first()
    .click()
  const [across, down]: [number[], number[]] = [[], []]
  for (const [index, { page: number, word, left, top, bottom }] of cited.entries()) {
    if (index > 0) await shown.keyboard.press('ArrowRight')
    let marked: z.infer<typeof place> = null
    for (let tries = 0; tries < MOST_TRIES && !(marked && word.startsWith(marked.word)); tries += 1) {
      marked = place.parse(await shown.evaluate(`(${MEASURE})(${number})`))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const { width, height } = pages[number - 1] ?? { width: Number.NaN, height: Number.NaN }
    if (!marked || !word.startsWith(marked.word)) continue
    across.push(Math.abs(marked.left * width - left))
    down.push(Math.abs(marked.middle * height - (top + bottom) / 2) / (bottom - top))
  }
  const figures = (values: readonly number[]) => ({
    p50: rounded(quantile(values, 0.5)),
    p90: rounded(quantile(values, 0.9)),
    p99: rounded(quantile(values, 0.99)),
  })
  return { words: across.length, leftPixels: figures(across), middleLineHeights: figures(down) }
}
