/**
 * Names in other scripts: whether two words, each in one of seven scripts, may be one name ("Ростов" and "Rostov", "واشنطن" and
 * "Washington"). Compared by classes of consonants, since scripts differ in vowels, and then sound by sound.
 */
import { letterBit } from './spelling.ts'
import { foldAccents } from './tokenizer.ts'

export type Script = 'latin' | 'cyrillic' | 'greek' | 'arabic' | 'katakana' | 'hangul' | 'han'

const SCRIPTS: readonly (readonly [Script, RegExp])[] = [
  ['latin', /^\p{Script=Latin}+$/u],
  ['cyrillic', /^\p{Script=Cyrillic}+$/u],
  ['greek', /^\p{Script=Greek}+$/u],
  ['arabic', /^\p{Script=Arabic}+$/u],
  ['katakana', /^[\p{Script=Katakana}ー]+$/u],
  ['hangul', /^\p{Script=Hangul}+$/u],
  ['han', /^\p{Script=Han}+$/u],
]

/** Undefined for several scripts in one word, and for any other script. */
export const scriptOf = (word: string): Script | undefined => SCRIPTS.find(([, pattern]) => pattern.test(word))?.[0]

const mapOf = (pairs: string): ReadonlyMap<string, string> =>
  new Map(pairs.split(' ').map((pair): [string, string] => [pair.charAt(0), pair.slice(1)]))

/** "gh": Russian writes the h of a name with the letter of its g. */
const CYRILLIC = mapOf(
  'аa бb вv гgh дd еe ёo жzh зz иi йy кk лl мm нn оo пp рr сs тt уu фf хkh цts чtch шsch щsch ъ ыi ь эe юu яa іi їi єe ґg ўu јy љl њn ћtch ђdzh џdzh',
)
const GREEK = mapOf('αa βv γgh δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υi φf χkh ψps ωo')
const ARABIC = mapOf(
  'اa أa إi آa ىa ةa ءa ئi ؤu بb تt ثth جj حh خkh دd ذd رr زz سs شsch صs ضd طt ظz عa غgh فf قk كk کk لl مm نn هh وu يi یi پp چtch ژzh گg ڤv',
)
const KATAKANA = mapOf(
  'アa イi ウu エe オo カka キki クku ケke コko サsa シschi スsu セse ソso タta チtchi ツtsu テte トto ナna ニni ヌnu ネne ノno ハha ヒhi フfu ヘhe ホho マma ミmi ムmu メme モmo ヤya ユyu ヨyo ラra リri ルru レre ロro ワwa ヲo ンn ガga ギgi グgu ゲge ゴgo ザza ジzhi ズzu ゼze ゾzo ダda ヂzhi ヅzu デde ドdo バba ビbi ブbu ベbe ボbo パpa ピpi プpu ペpe ポpo ヴvu ァ<a ィ<i ゥ<u ェ<e ォ<o ャ<a ュ<u ョ<o',
)
/** Characters by which Chinese writes foreign names, and their sounds. */
const HAN = mapOf(
  '阿a 埃ai 艾ai 爱ai 安an 昂ang 奥ao 澳ao 巴ba 芭ba 拜bai 班ban 邦bang 保bao 鲍bao 贝bei 本ben 比bi 彼bi 毕bi 碧bi 宾bin 玻bo 波bo 博bo 伯bo 勃bo 布bu 卜bu 采ts 蔡ts 策ts 查cha 彻che 楚chu 茨ts 达da 妲da 戴dai 黛dai 丹dan 当dang 道dao 德d 得d 登den 邓den 狄di 迪di 蒂di 丁din 东dong 杜du 顿ton 敦dun 多do 厄e 恩en 尔r 法fa 凡van 范fan 菲fi 费fe 芬fen 丰fon 佛fo 夫f 弗f 福fo 富fu 盖gai 甘gan 冈gan 高gao 戈go 哥go 格g 根gen 古gu 瓜gua 圭gui 哈ha 海hai 汉han 豪hao 荷ho 赫h 黑he 亨hen 洪hon 胡hu 华wa 惠hui 霍ho 基ki 吉ji 季ji 加ka 伽ga 嘉ka 贾ja 简jan 杰je 捷je 金kin 津jin 喀ka 卡ka 开kai 凯kai 坎kan 康kon 考kao 柯ko 科ko 可ko 克k 肯ken 孔kon 库ku 夸kua 奎kui 昆kun 廓ko 拉la 莱lai 赖lai 兰lan 朗lan 劳lao 勒l 雷re 蕾re 累l 黎li 里li 理li 利li 莉li 立li 丽li 连lian 林lin 琳lin 龙lon 卢lu 鲁lu 露lu 路lu 伦lun 罗ro 洛lo 吕lu 马ma 玛ma 迈mai 麦mai 曼man 芒man 毛mao 茂mao 梅me 美me 门men 蒙mon 孟men 弥mi 米mi 密mi 蜜mi 明min 摩mo 莫mo 墨mo 姆m 穆mu 木mu 纳na 娜na 奈nai 南nan 内ne 嫩nen 尼ni 妮ni 涅nie 宁nin 牛nu 纽nu 农non 努nu 诺no 欧o 帕pa 派pai 潘pan 庞pan 佩pe 彭pen 皮pi 平pin 珀po 坡po 普p 浦pu 奇chi 齐chi 契chi 钱chen 强chan 乔jo 切che 丘chu 琼jon 让jan 日ri 茹ru 瑞rui 若ro 撒sa 萨sa 塞se 赛sai 三san 桑san 瑟s 森sen 沙sha 莎sha 山shan 珊shan 盛shen 尚shan 绍shao 舍she 申shen 什sh 圣san 施sh 诗sh 石sh 史sh 士s 舒shu 朔sho 丝s 司s 思s 斯s 松son 苏su 孙sun 索so 塔ta 泰tai 坦tan 汤tom 唐tan 陶tao 特t 滕ten 腾ten 提ti 廷tin 亭tin 图tu 土tu 托to 陀to 瓦va 万van 旺van 威wi 韦we 维vi 魏we 温wen 文ven 翁on 沃wo 乌u 伍wu 武wu 西si 希hi 锡si 席shi 夏sha 香shan 肖sho 谢she 辛sin 欣sin 兴shin 休hu 修shu 许shu 逊son 雅ya 亚a 扬yan 杨yan 耶ye 叶ye 伊i 依i 宜i 易i 因in 印in 英in 尤yu 于yu 约yo 云yun 赞zan 泽ze 扎za 詹jem 珍jen 朱ju 兹z 宗zon 佐zo',
)
const HANGUL_INITIALS = 'g k n d t r m b p s s  z z tch k t p h'.split(' ')
const HANGUL_VOWELS = 'a e ya ye o e yo ye o wa we we yo u wo we wi yu u ui i'.split(' ')
const HANGUL_FINALS = ' k k k n n n t l k m l l l p l m p p t t ng t t k t p t'.split(' ')
const FIRST_SYLLABLE = 0xac00

function romaniseHangul(word: string): string {
  let roman = ''
  for (const syllable of word.normalize('NFC')) {
    const index = (syllable.codePointAt(0) ?? 0) - FIRST_SYLLABLE
    if (index < 0 || index >= 19 * 21 * 28) continue
    roman += `${HANGUL_INITIALS[Math.floor(index / 588)] ?? ''}${HANGUL_VOWELS[Math.floor((index % 588) / 28)] ?? ''}${HANGUL_FINALS[index % 28] ?? ''}`
  }
  return roman
}

const LETTERS = { cyrillic: CYRILLIC, greek: GREEK, arabic: ARABIC, katakana: KATAKANA, han: HAN } as const

/** Latin letters for the sounds of a word in lower case; of a Latin word its letters without accents. */
export function romanise(word: string, script: Script): string {
  if (script === 'latin') return foldAccents(word).replaceAll('ß', 'ss').replaceAll('æ', 'ae').replaceAll('ø', 'o')
  if (script === 'hangul') return romaniseHangul(word)
  const letters = LETTERS[script]
  const plain = script === 'greek' ? foldAccents(word) : word.replaceAll(/\p{M}/gu, '')
  let roman = ''
  for (const letter of plain) roman += letters.get(letter) ?? ''
  // A small vowel replaces that of the sign before it: "ファ" is "fa".
  return script === 'katakana' ? roman.replaceAll(/[aiueo]?</g, '') : roman
}

/** Sounds of Latin letters, longest first, each with the classes of consonants that it may be. Vowels have none. */
const SOUNDS: readonly (readonly [string, readonly string[]])[] = [
  ['tsch', ['S']],
  ['sch', ['S']],
  ['tch', ['S']],
  ['dzh', ['S']],
  ['sh', ['S']],
  ['zh', ['S']],
  ['ch', ['S', 'K']],
  ['kh', ['K', '']],
  ['gh', ['K', '']],
  ['ph', ['P']],
  ['th', ['T', 'S']],
  ['ts', ['S', 'TS']],
  ['tz', ['S']],
  ['dj', ['S']],
  ['ck', ['K']],
  ['ng', ['NK', 'N']],
  ['ce', ['S']],
  ['ci', ['S']],
  ['cy', ['S']],
  ['b', ['P']],
  ['c', ['K']],
  ['d', ['T']],
  ['f', ['P']],
  ['g', ['K', 'S']],
  ['j', ['S', '', 'K']],
  ['k', ['K']],
  ['l', ['R']],
  ['m', ['M']],
  ['n', ['N']],
  ['p', ['P']],
  ['q', ['K']],
  ['r', ['R']],
  ['s', ['S']],
  ['t', ['T']],
  ['v', ['P']],
  ['w', ['P', '']],
  ['x', ['KS']],
  ['z', ['S']],
]
const SOUNDS_BY_LETTER = Map.groupBy(SOUNDS, ([sound]) => sound.charAt(0))
const SILENT = ['']
const MAX_KEYS = 12

/** Consonants of a word by their classes, in each way that its letters may be read; at most twelve. */
export function consonantKeys(roman: string): ReadonlySet<string> {
  let keys: ReadonlySet<string> = new Set([''])
  for (let at = 0; at < roman.length;) {
    const sound = SOUNDS_BY_LETTER.get(roman.charAt(at))?.find(([letters]) => roman.startsWith(letters, at))
    const [letters, classes] = sound ?? [roman.charAt(at), SILENT]
    const longer = [...keys].flatMap((key) =>
      classes.map((each) => (each !== '' && key.endsWith(each) ? key : key + each)),
    )
    keys = new Set([...new Set(longer)].slice(0, MAX_KEYS))
    at += letters.length
  }
  return keys
}

/** Classes that a Latin letter may have alone or with its neighbours. */
const CLASSES_OF_LETTER = new Map(
  Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => {
    const sounds = SOUNDS.filter(([sound]) => sound.includes(letter))
    const isSilent = !sounds.some(([sound]) => sound === letter) || sounds.some(([sound, classes]) => sound.startsWith(letter) && classes.includes('')) // prettier-ignore
    return [
      letter,
      { classes: new Set(sounds.flatMap(([, classes]) => Array.from(classes.join('')))), isSilent },
    ] as const
  }),
)
const CLASSES = Array.from('PTKSRMN')

const bitOf = (letter: string): number => letterBit(letter.charCodeAt(0))

/** By the first UTF-16 code unit of a word in lower case; undefined for other scripts. */
export function wordScriptOf(unit: number): WordScript | undefined {
  if (unit < 0x250) return 'latin'
  if (unit >= 0x400 && unit < 0x530) return 'cyrillic'
  if (unit >= 0x600 && unit < 0x700) return 'arabic'
  return unit >= 0x370 && unit < 0x400 ? 'greek' : undefined
}

export interface LetterFilter {
  /** Bits of letters that have a class of the name, or none. */
  readonly allowed: number
  /** For each class that is in every reading of the name: bits of letters that may have it. */
  readonly required: readonly number[]
  /** Bits of letters with which such a word may begin and end. */
  readonly first: number
  readonly last: number
}

interface LetterClasses {
  readonly bit: number
  readonly classes: ReadonlySet<string>
  readonly isSilent: boolean
}

function classesOfLetters(letters: Iterable<readonly [string, string]>): LetterClasses[] {
  return [...letters].map(([letter, roman]) => {
    const parts = Array.from(roman, (each) => CLASSES_OF_LETTER.get(each)).filter((each) => each !== undefined)
    return {
      bit: bitOf(letter),
      classes: new Set(parts.flatMap(({ classes }) => [...classes])),
      isSilent: parts.every(({ isSilent }) => isSilent),
    }
  })
}

/** Scripts of words; an index of the others holds pairs of signs. */
export const WORD_SCRIPTS = ['latin', 'cyrillic', 'greek', 'arabic'] as const
export type WordScript = (typeof WORD_SCRIPTS)[number]

const ALPHABETS: Readonly<Record<WordScript, readonly LetterClasses[]>> = {
  latin: classesOfLetters([...CLASSES_OF_LETTER.keys()].map((letter) => [letter, letter] as const)),
  cyrillic: classesOfLetters(CYRILLIC),
  greek: classesOfLetters(GREEK),
  arabic: classesOfLetters(ARABIC),
}

/** Which sets of letters a word of a script can have that sounds like the name, so that most words are told by a few bits. */
export function letterFilter(keys: ReadonlySet<string>, script: WordScript): LetterFilter {
  const known = ALPHABETS[script]
  const unknown = known.reduce((bits, { bit }) => bits & ~bit, ~0)
  const bitsOf = (isMeant: (letter: LetterClasses) => boolean) =>
    known.reduce((bits, letter) => (isMeant(letter) ? bits | letter.bit : bits), 0)
  const ofAny = (wanted: ReadonlySet<string>) =>
    unknown | bitsOf(({ classes, isSilent }) => isSilent || !classes.isDisjointFrom(wanted))
  const readings = [...keys]
  return {
    allowed: ofAny(new Set(readings.flatMap((key) => Array.from(key)))),
    required: CLASSES.filter((each) => readings.every((key) => key.includes(each))).map((each) =>
      bitsOf(({ classes }) => classes.has(each)),
    ),
    first: ofAny(new Set(readings.map((key) => key.charAt(0)))),
    last: ofAny(new Set(readings.map((key) => key.charAt(key.length - 1)))),
  }
}

const VOWELS = new Set('aeiouyh')
const CLASS_OF = new Map(
  SOUNDS.flatMap(([sound, [first = '']]) => (sound.length === 1 ? [[sound, first] as const] : [])),
)

function substitutionCost(one: string, other: string): number {
  if (one === other) return 0
  if (VOWELS.has(one) && VOWELS.has(other)) return 0.2
  return CLASS_OF.get(one) === CLASS_OF.get(other) && CLASS_OF.has(one) ? 0.25 : 1
}

const gapCost = (letter: string): number => (VOWELS.has(letter) ? 0.3 : 1)

/** One letter for sounds that the scripts write with several. */
const simplify = (roman: string): string =>
  roman
    .replaceAll(/tsch|sch|tch|dzh|sh|zh|ch|ts|tz|dj/g, 's')
    .replaceAll(/kh|gh|ck|qu/g, 'k')
    .replaceAll('ph', 'f')
    .replaceAll('th', 't')
    .replaceAll(/c(?=[eiy])/g, 's')
    .replaceAll('x', 'ks')
    .replaceAll(/(.)\1+/g, '$1')

/** Similarity of two romanised words, 0 to 1: weighted edits, of which those of vowels and of related consonants cost less. */
export function soundSimilarity(one: string, other: string): number {
  const [first, second] = [simplify(one), simplify(other)]
  let last = [0]
  for (const letter of second) last.push((last.at(-1) ?? 0) + gapCost(letter))
  for (const letter of first) {
    const row = [(last[0] ?? 0) + gapCost(letter)]
    for (let at = 0; at < second.length; at += 1) {
      const against = second.charAt(at)
      row.push(
        Math.min(
          (last[at] ?? 0) + substitutionCost(letter, against),
          (last[at + 1] ?? 0) + gapCost(letter),
          (row[at] ?? 0) + gapCost(against),
        ),
      )
    }
    last = row
  }
  return 1 - (last.at(-1) ?? 0) / Math.max(1, first.length, second.length)
}

const FOREIGN_NAME = new RegExp(`[${[...HAN.keys()].join('')}]{2,}`, 'gu')

/** Runs of characters that may write a foreign name in Chinese; other words are among them. */
export const foreignNamesIn = (text: string): readonly string[] => text.match(FOREIGN_NAME) ?? []

/** Parts of a written name that are not its stem, by script: endings of Russian and Korean, and Arabic words in one with it. */
const AFFIXES: Partial<Record<Script, RegExp>> = {
  // A Russian stemmer takes them for endings.
  latin: /(?:ova?|eva?|off|eff)$/u,
  cyrillic: /(?:ами|ями|ого|его|ому|ему|ским|ский|ская|ские|ском|ской|ых|ым|им|ой|ей|ом|ем|ах|ях|ов|ев|[аяоеуюыиьй])$/u,
  hangul: /(?:에서는|에서|에게|으로|까지|부터|은|는|이|가|을|를|의|에|로|와|과|도|만)$/u,
  arabic: /^(?:وال|بال|كال|فال|لل|ال|و|ب|ل|ف)/u,
}

/** The word as it is written, and without what grammar may have added. */
export function bareForms(word: string, script: Script): string[] {
  // A character of the sentence may be joined to either end.
  if (script === 'han') return [word, word.slice(1), word.slice(0, -1)].filter((form) => form.length > 1)
  const affix = AFFIXES[script]
  return affix ? [...new Set([word, word.replace(affix, '')])].filter((form) => form.length > 1) : [word]
}
