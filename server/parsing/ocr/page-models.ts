import { COMMON_WORDS } from '#server/search/text/common-words.ts'
import { detectByCommonWords, languagesByWord } from '#server/search/text/detect-language.ts'
import { foldAccents } from '#server/search/text/tokenizer.ts'
import type { OcrLanguage } from './tesseract.ts'

/** Models that read a page together, in order of precedence. */
export type OcrModels = readonly OcrLanguage[]

/** Reads Latin letters without accents, well enough to detect the language. */
export const ENGLISH_MODEL: OcrModels = ['eng']
/** For Latin letters in an unknown language. Korean pages mix both scripts. */
export const COMMON_MODELS: OcrModels = ['eng', 'deu', 'fra', 'spa', 'kor']

/** English makes Chinese and Japanese slower, not better (Chinese: .978 alone, .953 with it); it must precede Greek. */
const SPECIAL_MODELS: Partial<Record<OcrLanguage, OcrModels>> = {
  eng: ENGLISH_MODEL,
  ell: ['eng', 'ell'],
  ara: ['ara'],
  fas: ['fas'],
  chi_sim: ['chi_sim'],
  chi_tra: ['chi_tra'],
  jpn: ['jpn'],
}

/** Includes English, whose words occur in texts of every language. */
export const modelsForLanguage = (language: OcrLanguage): OcrModels => SPECIAL_MODELS[language] ?? [language, 'eng']

export interface ScriptModels {
  readonly likeliest: OcrModels
  readonly others: readonly OcrModels[]
  readonly margin: number
}

const script = (likeliest: OcrLanguage, others: readonly OcrLanguage[] = [], margin = 0): ScriptModels => ({
  likeliest: modelsForLanguage(likeliest),
  others: others.map(modelsForLanguage),
  margin,
})

const BY_SCRIPT: Readonly<Record<string, ScriptModels>> = {
  // On Persian, Arabic's model is up to 4 more confident than Persian's own; on Arabic at least 11.
  Arabic: script('fas', ['ara'], 7),
  Cyrillic: script('rus', ['ukr']),
  Devanagari: script('hin'),
  Greek: script('ell'),
  Han: script('chi_sim', ['chi_tra']),
  Hebrew: script('heb'),
  Japanese: script('jpn'),
  Korean: script('kor'),
  Thai: script('tha'),
}

export const modelsForScript = (name: string): ScriptModels | undefined => BY_SCRIPT[name]

const BY_NAME: Readonly<Record<string, OcrLanguage>> = {
  english: 'eng',
  german: 'deu',
  french: 'fra',
  spanish: 'spa',
  italian: 'ita',
  portuguese: 'por',
  dutch: 'nld',
  danish: 'dan',
  norwegian: 'nor',
  swedish: 'swe',
  finnish: 'fin',
  polish: 'pol',
  czech: 'ces',
  hungarian: 'hun',
  romanian: 'ron',
  turkish: 'tur',
  vietnamese: 'vie',
}

const MORE_COMMON_WORDS = {
  czech:
    'a se na je že v to s z do o i ve pro jako za by jsou pokud nebo které který která být může ale není při tak také jen ' +
    'aby podle již však mezi jeho bude si od po k u byl bylo až jak více další',
  vietnamese: 'và của là có các cho một được trong khi này với không những để người trên vào từ bạn nếu thể tại cần',
}

const WITHOUT_ACCENTS = languagesByWord(
  Object.fromEntries(
    Object.entries({ ...COMMON_WORDS, ...MORE_COMMON_WORDS }).map(([name, words]) => [name, foldAccents(words)]),
  ),
)

export function modelsForText(text: string): OcrModels | undefined {
  const language = BY_NAME[detectByCommonWords(foldAccents(text), WITHOUT_ACCENTS)]
  return language && modelsForLanguage(language)
}
