/** Documents that a question names by their language: "the Polish article", "im koreanischen Gesetz". */
import type { Scope } from '#server/database/scope.ts'
import { readOpeningsOfLanguages } from '#server/search/documents-in-language.ts'
import { NO_LANGUAGE } from '#server/search/text/detect-language.ts'
import { languageOf } from '#server/search/text/text-language.ts'
import { foldAccents } from '#server/search/text/tokenizer.ts'

/**
 * Names of languages by their English ones, as `languageOf` gives those: adjectives without their ending in the languages
 * that questions are asked in, and those that stand in texts without blanks. Names that are words of other languages are
 * left out, such as the Spanish "finés" and the Dutch "pools".
 */
const NAMES: Readonly<Record<string, string>> = {
  arabic: 'arabisch arabisk arabsk arabo árabe arabe арабск العربية アラビア 阿拉伯 아랍',
  catalan: 'katalanisch catalan catalán català katalansk каталанск الكتالانية カタロニア 加泰罗尼亚 카탈로니아',
  chinese: 'chinesisch chinois chino cinese kinesisk chińsk китайск الصينية 中国 中文 汉语 중국',
  danish: 'dänisch danois danés danese deens dansk duńsk датск الدانمركية デンマーク 丹麦 덴마크',
  dutch:
    'niederländisch néerlandais neerlandés olandes holandés nederlands nederlandsk niderlandzk нидерландск الهولندية オランダ 荷兰 네덜란드',
  english: 'englisch anglais inglés inglese engels engelsk angielsk английск الإنجليزية 英語 英文 영어',
  finnish: 'finnisch finnois finlandés finlandese finsk fińsk финск الفنلندية フィンランド 芬兰 핀란드',
  french: 'französisch français francés francese fransk francusk французск الفرنسية フランス 法语 法文 프랑스',
  german: 'deutsch allemand alemán alemão tedesc duits tysk niemieck немецк الألمانية ドイツ 德语 德文 독일',
  greek: 'griechisch griego grecque grieks grekisk græsk greck греческ اليونانية ギリシャ 希腊 그리스',
  hebrew: 'hebräisch hébreu hebreo ebraic hebraico hebreeuws hebreisk hebrajsk иврит العبرية ヘブライ 希伯来 히브리',
  hindi: 'hindi хинди الهندية ヒンディー 印地语 힌디',
  hungarian:
    'ungarisch hongrois húngaro ungherese hongaars ungersk ungarsk węgiersk венгерск الهنغارية ハンガリー 匈牙利 헝가리',
  indonesian:
    'indonesisch indonésien indonesio indonesiano indonesisk indonezyjsk индонезийск الإندونيسية インドネシア 印度尼西亚 인도네시아',
  italian:
    'italienisch italien italiano italiana italiaans italiensk włosk итальянск الإيطالية イタリア 意大利 이탈리아',
  japanese: 'japanisch japonais japonés giapponese japans japansk japońsk японск اليابانية 日本 日语 日文 일본',
  korean: 'koreanisch coréen coreano koreaans koreansk корейск الكورية 韓国 韩国 韩语 한국',
  norwegian:
    'norwegisch norvégien noruego norvegese norueguês noors norsk norwesk норвежск النرويجية ノルウェー 挪威 노르웨이',
  persian: 'persisch persan persa persiano perzisch persisk persk персидск الفارسية ペルシア ペルシャ 波斯 페르시아',
  polish: 'polnisch polonais polaco polacco polonês polsk польск البولندية ポーランド 波兰 폴란드',
  portuguese:
    'portugiesisch portugais portugués portoghese português portugees portugisisk portugalsk португальск البرتغالية ポルトガル 葡萄牙 포르투갈',
  romanian:
    'rumänisch roumain rumano rumeno romeno roemeens rumänsk rumensk rumuńsk румынск الرومانية ルーマニア 罗马尼亚 루마니아',
  russian: 'russisch russe ruso russo rysk russisk rosyjsk русск الروسية ロシア 俄语 俄文 러시아',
  spanish:
    'spanisch espagnol español spagnol espanhol spaans spansk hiszpańsk испанск الإسبانية スペイン 西班牙 스페인',
  swedish: 'schwedisch suédois sueco svedese zweeds svensk szwedzk шведск السويدية スウェーデン 瑞典 스웨덴',
  thai: 'thailändisch tailandés thailandese thailandsk tajsk тайск التايلاندية タイ語 泰语 泰文 태국',
  turkish: 'türkisch turque turco turkisk tyrkisk tureck турецк التركية トルコ 土耳其 튀르키예 터키',
}
/** Nations whose documents are in the language of another name. */
const NATIONS: Readonly<Record<string, string>> = {
  Iranian: 'persian',
  Farsi: 'persian',
  Brazilian: 'portuguese',
  Mexican: 'spanish',
  Chilean: 'spanish',
  Argentinian: 'spanish',
  Colombian: 'spanish',
  Peruvian: 'spanish',
  Austrian: 'german',
  Taiwanese: 'chinese',
  Egyptian: 'arabic',
  Saudi: 'arabic',
  Moroccan: 'arabic',
}
const WITHOUT_BLANKS = /[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Arabic}]/u
/** Endings of adjectives in the languages of the names that are written in Latin letters. */
const LATIN_ENDINGS: ReadonlySet<string> = new Set([
  '',
  ...'a e i o s t u ą an as em en er es he hi ich ie iej im nes ne os'.split(' '),
])
/** Endings of names that are listed with a vowel: "ruso", "rusa", "rusos". */
const VOWEL_ENDINGS: ReadonlySet<string> = new Set('a e i o as es os he hi'.split(' '))
/** Russian adjectives end in two or three letters, of many kinds. */
const MAX_ENDING = 3

const INSIDE: readonly (readonly [name: string, language: string])[] = Object.entries(NAMES).flatMap(
  ([language, names]) =>
    names
      .split(' ')
      .filter((name) => WITHOUT_BLANKS.test(name))
      .map((name) => [name, language] as const),
)
interface ListedName {
  readonly language: string
  readonly name: string
  /** Its last vowel is left out here. */
  readonly isCut: boolean
}

/** By what every form of the name begins with, without accents. A name that is listed whole counts before one that is cut. */
const BEGINNINGS = new Map(
  Object.entries(NAMES)
    .flatMap(([language, names]) =>
      names
        .split(' ')
        .filter((name) => !WITHOUT_BLANKS.test(name))
        .map((name): [string, ListedName] => {
          const beginning = foldAccents(name).replace(/[aeo]$/u, '')
          return [beginning, { language, name, isCut: beginning !== foldAccents(name) }]
        }),
    )
    .toSorted(([, one], [, other]) => Number(other.isCut) - Number(one.isCut)),
)
/** Capitalised in English, where "polish" is a verb. */
const ENGLISH = new Map([
  ...Object.keys(NAMES).map((name) => [name.replace(/^./, (first) => first.toUpperCase()), name] as const),
  ...Object.entries(NATIONS),
])

function languageOfWord(word: string): string | undefined {
  const lower = word.toLowerCase()
  const folded = foldAccents(lower)
  for (let length = 0; length <= MAX_ENDING; length += 1) {
    const beginning = folded.slice(0, folded.length - length)
    const found = BEGINNINGS.get(beginning)
    if (!found || !isEnding(found, folded.slice(beginning.length))) continue
    // "Francesco" and "Frances" are people. German and Dutch write adjectives with a capital letter, too.
    const isWhole = !found.isCut && lower.startsWith(found.name)
    if (word === lower || isWhole) return found.language
  }
  return ENGLISH.get(word)
}

function isEnding({ isCut, name }: ListedName, ending: string): boolean {
  if (isCut) return VOWEL_ENDINGS.has(ending)
  return LATIN_ENDINGS.has(ending) || !/\p{Script=Latin}/u.test(name)
}

/** @returns English names of the languages that a question names */
export function namedLanguages(question: string): string[] {
  const words = (question.match(/[\p{L}\p{M}]+/gu) ?? []).flatMap((word) => languageOfWord(word) ?? [])
  const inside = INSIDE.flatMap(([name, language]) => (question.includes(name) ? [language] : []))
  return [...new Set([...words, ...inside])].toSorted()
}

/** Persian is written in Arabic letters and four of its own. */
const languageOfDocument = (text: string): string | undefined => {
  const language = languageOf(text)
  return language === 'arabic' && /[پچژگ]/u.test(text) ? 'persian' : language
}

/** Documents of a language in more than this share of a library are no answer to "the Polish article". */
const MAX_SHARE = 0.5

/** Ids of the documents in the languages that a question names, where those are few of the library. Runs as the person. */
export async function findDescribedDocuments(scope: Scope, question: string): Promise<readonly string[]> {
  const languages = namedLanguages(question)
  if (languages.length === 0) return []
  const stemmers = [...languages, NO_LANGUAGE, ...(languages.includes('persian') ? ['arabic'] : [])]
  const { openings, documents } = await readOpeningsOfLanguages(scope, stemmers)
  const described = openings.filter(({ text }) => languages.includes(languageOfDocument(text) ?? ''))
  return described.length <= MAX_SHARE * documents ? described.map(({ documentId }) => documentId) : []
}
