/** Which models read a page, by what can be told of it: its script as the engine sees it, and its commonest words. */
import { COMMON_WORDS } from '#server/search/text/common-words.ts'
import { detectByCommonWords, languagesByWord } from '#server/search/text/detect-language.ts'
import { foldAccents } from '#server/search/text/tokenizer.ts'
import { type OcrLanguage } from './tesseract.ts'

/** Models that read a page together, in the order in which the engine asks them. */
export type OcrModels = readonly OcrLanguage[]

/** Tells which language a page in Latin letters is in, although it does not know their accents. */
export const ENGLISH_MODEL: OcrModels = ['eng']
/** Where nobody can tell the language of a page in Latin letters. Korean ones mix both. */
export const COMMON_MODELS: OcrModels = ['eng', 'deu', 'fra', 'spa', 'kor']

/**
 * Where English's model is not simply asked after the language's own. It makes pages of Chinese and Japanese slower and no
 * better (characters read right: Chinese .978 alone, .953 with it), and Greek, asked first, would keep it from reading anything.
 */
const SPECIAL_MODELS: Partial<Record<OcrLanguage, OcrModels>> = {
  eng: ENGLISH_MODEL,
  ell: ['eng', 'ell'],
  ara: ['ara'],
  fas: ['fas'],
  chi_sim: ['chi_sim'],
  chi_tra: ['chi_tra'],
  jpn: ['jpn'],
}

/** What reads pages in one language. English words stand in texts of every language. */
export const modelsForLanguage = (language: OcrLanguage): OcrModels => SPECIAL_MODELS[language] ?? [language, 'eng']

/** What may read a page in a script. */
export interface ScriptModels {
  readonly likeliest: OcrModels
  readonly others: readonly OcrModels[]
  /** By how much another has to be surer to be believed. */
  readonly margin: number
}

const script = (likeliest: OcrLanguage, others: readonly OcrLanguage[] = [], margin = 0): ScriptModels => ({
  likeliest: modelsForLanguage(likeliest),
  others: others.map(modelsForLanguage),
  margin,
})

/** By the engine's name of the script. */
const BY_SCRIPT: Readonly<Record<string, ScriptModels>> = {
  // Arabic's model is as sure of Persian, whose letters it does not know, as Persian's own is (up to 4 surer); of Arabic
  // it is 11 surer and more.
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

/** Undefined where the script is Latin, or not one of these. */
export const modelsForScript = (name: string): ScriptModels | undefined => BY_SCRIPT[name]

/** By the names of `COMMON_WORDS`. */
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

/** Of languages that are not stemmed. */
const MORE_COMMON_WORDS = {
  czech:
    'a se na je že v to s z do o i ve pro jako za by jsou pokud nebo které který která být může ale není při tak také jen ' +
    'aby podle již však mezi jeho bude si od po k u byl bylo až jak více další',
  vietnamese: 'và của là có các cho một được trong khi này với không những để người trên vào từ bạn nếu thể tại cần',
}

/** As a model writes them that does not know their accents. */
const WITHOUT_ACCENTS = languagesByWord(
  Object.fromEntries(
    Object.entries({ ...COMMON_WORDS, ...MORE_COMMON_WORDS }).map(([name, words]) => [name, foldAccents(words)]),
  ),
)

/** What reads a page of these words best; undefined where they do not tell. */
export function modelsForText(text: string): OcrModels | undefined {
  const language = BY_NAME[detectByCommonWords(foldAccents(text), WITHOUT_ACCENTS)]
  return language && modelsForLanguage(language)
}
