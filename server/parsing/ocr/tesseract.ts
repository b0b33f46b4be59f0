/** Tesseract as WebAssembly with a file system in memory. It may block the thread: the process does nothing else. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { DocumentLanguage } from '#contract/document.ts'
import type { QuarterTurn, Raster } from './raster.ts'

const require = createRequire(import.meta.url)

/** npm has no Russian model; Kyrgyz has its letters (accuracy on four pages: .988 to .995; Ukrainian: .94 to .96). */
const MODELS: Partial<Record<DocumentLanguage | 'osd', string>> = { rus: 'kir' }

const modelName = (language: DocumentLanguage | 'osd'): string => MODELS[language] ?? language

export function modelPath(language: DocumentLanguage | 'osd'): string {
  const model = modelName(language)
  const folder = path.dirname(require.resolve(`@tesseract.js-data/${model}/package.json`))
  return path.join(folder, '4.0.0_best_int', `${model}.traineddata.gz`)
}

export type OcrLanguage = DocumentLanguage

/** Bounds in pixels; confidence from 0 to 100. */
export interface Word {
  readonly text: string
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly confidence: number
  readonly line: string
  readonly paragraph: string
}

export interface Orientation {
  /** Clockwise turn that makes the picture upright; 0 if unknown. */
  readonly turn: QuarterTurn
  /** Likely scripts by the engine's names ("Latin", "Han"); empty if none is found. */
  readonly scripts: readonly string[]
}

export interface Tesseract {
  findOrientation(raster: Raster): Orientation
  readWords(raster: Raster, languages: readonly OcrLanguage[]): Word[]
  /** Reads each part as one block of lines; returns no words for an empty part. */
  readBlocks(raster: Raster, blocks: readonly Block[], languages: readonly OcrLanguage[]): Word[][]
}

export interface Block {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Only the older engine detects orientation. */
const LEGACY_ENGINE = 0
const LSTM_ENGINE = 1
/** Detects columns and blocks; the library's default assumes a single block. */
const FULLY_AUTOMATIC = '3'
const ONE_BLOCK = '6'
const ORIENTATION_ONLY = '0'
const RESOLUTION = '200'
const MIN_TURN_CONFIDENCE = 1
/** Pages in Latin letters score above 5; a Greek page was taken for Latin with .9. */
const MIN_LATIN_CONFIDENCE = 2
const LIKE_LATIN = ['Greek', 'Cyrillic']
const TURNS: readonly QuarterTurn[] = [0, 270, 180, 90]

let loaded: Promise<Tesseract> | undefined

export function loadTesseract(): Promise<Tesseract> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Tesseract> {
  const silent = { print: () => {}, printErr: () => {}, TesseractProgress: () => {} }
  const { default: createModule } = await import('tesseract.js-core/tesseract-core-relaxedsimd.js')
  const module = await createModule(silent).catch(async () => {
    // The processor lacks SIMD.
    const { default: createPlainModule } = await import('tesseract.js-core/tesseract-core.js')
    return createPlainModule(silent)
  })
  const apis = new Map<string, TesseractApi>()

  const apiFor = (languages: readonly (OcrLanguage | 'osd')[], engine: number): TesseractApi => {
    const models = languages.map(modelName)
    const key = models.join('+')
    const known = apis.get(key)
    if (known) return known
    for (const language of languages)
      module.FS.writeFile(`${modelName(language)}.traineddata`, gunzipSync(readFileSync(modelPath(language))))
    const api = new module.TessBaseAPI()
    if (api.Init(null, key, engine) !== 0) throw new Error(`Tesseract did not start with ${key}`)
    for (const model of models) module.FS.unlink(`${model}.traineddata`)
    api.SetVariable('user_defined_dpi', RESOLUTION)
    api.SetVariable('tessedit_pageseg_mode', engine === LEGACY_ENGINE ? ORIENTATION_ONLY : FULLY_AUTOMATIC)
    apis.set(key, api)
    return api
  }

  const setImage = (api: TesseractApi, { width, height, pixels }: Raster) => {
    module.FS.writeFile('/input', Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]))
    if (api.SetImageFile(1, 0) === 1) throw new Error('Tesseract did not take the picture')
  }

  return {
    findOrientation(raster) {
      const api = apiFor(['osd'], LEGACY_ENGINE)
      setImage(api, raster)
      const results = new module.OSResults()
      if (!api.DetectOS(results)) return { turn: 0, scripts: [] }
      const { orientation_id, oconfidence, script_id, sconfidence } = results.best_result
      const script = results.unicharset.get_script_from_script_id(script_id)
      return {
        turn: oconfidence < MIN_TURN_CONFIDENCE ? 0 : (TURNS[orientation_id] ?? 0),
        scripts: script === 'Latin' && sconfidence < MIN_LATIN_CONFIDENCE ? [script, ...LIKE_LATIN] : [script],
      }
    },
    readWords(raster, languages) {
      const api = apiFor(languages, LSTM_ENGINE)
      setImage(api, raster)
      api.Recognize(null)
      return parseWords(api.GetTSVText(0))
    },
    readBlocks(raster, blocks, languages) {
      const api = apiFor(languages, LSTM_ENGINE)
      setImage(api, raster)
      api.SetVariable('tessedit_pageseg_mode', ONE_BLOCK)
      const words = blocks.map(({ left, top, right, bottom }) => {
        // An empty part aborts the engine permanently.
        if (right <= left || bottom <= top) return []
        // The engine takes a part as wide as the picture for the whole and then reads other lines.
        const isWhole = left <= 0 && right >= raster.width
        api.SetRectangle(left, top, right - left - (isWhole ? 1 : 0), bottom - top)
        api.Recognize(null)
        return parseWords(api.GetTSVText(0))
      })
      api.SetVariable('tessedit_pageseg_mode', FULLY_AUTOMATIC)
      return words
    },
  }
}

/** Columns: level page block paragraph line word left top width height confidence text; level 5 is a word. */
function parseWords(table: string): Word[] {
  const words: Word[] = []
  for (const row of table.split('\n')) {
    const [level, , block, paragraph, line, , left, top, width, height, confidence, ...text] = row.split('\t')
    const word = text.join(' ').trim()
    if (level !== '5' || word === '') continue
    words.push({
      text: word,
      left: Number(left),
      top: Number(top),
      width: Number(width),
      height: Number(height),
      confidence: Number(confidence),
      line: `${block}.${paragraph}.${line}`,
      paragraph: `${block}.${paragraph}`,
    })
  }
  return words
}
