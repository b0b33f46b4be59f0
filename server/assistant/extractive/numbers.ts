/** Recognises questions for a number, price or date: sentences without one seldom answer them. */

const WORDS = [
  String.raw`how (?:many|much|long|often|old|far|big|high|large|tall|late)`,
  String.raw`(?:what|which) (?:date|day|year|time|price|amount|number|percentage|share)`,
  String.raw`wie ?(?:viele?|lange?|oft|hoch|teuer|alt|gro(?:ß|ss))|wann`,
  String.raw`combien|cu[aá]nt[oa]s?|cuándo|quant[oaie]|quantos|hoeveel|wanneer`,
  String.raw`hvor (?:mange|mye|meget|lenge|længe|ofte)|hvilket nummer|hur (?:många|mycket|länge|ofta)|kuinka (?:monta|paljon|kauan|usein)`,
  String.raw`ile|kolik|câți|câte|hány|mennyi|kaç|ne kadar|сколько|скільки|πόσ\p{L}*|كم|کتنے|چند`,
]
/** Words that are also conjunctions ask only at the beginning of a question. */
const FIRST_WORDS = String.raw`(?:since |by |until |depuis |desde |da |с )?(?:when|quand|cuando|quando|når|när|kiedy|kdy|când|mikor|когда|коли|πότε|متى)`
const UNSPACED_WORDS = /多少|几[个年月天次人]|何[人個年月日時回歳件本パ]|いくつ|いくら|몇|얼마|언제|いつ|何时/u

const ANYWHERE = new RegExp(String.raw`(?<!\p{L})(?:${WORDS.join('|')})(?!\p{L})`, 'iu')
const AT_BEGINNING = new RegExp(String.raw`^[^\p{L}]*${FIRST_WORDS}(?!\p{L})`, 'iu')

/** Number words from two on: "one" has other meanings as often. */
const NUMBERS = [
  'two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen twice',
  'zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig hundert tausend million dutzend',
  'deux trois quatre cinq sept huit neuf dix onze douze vingt trente quarante cinquante cent mille',
  'dos tres cuatro cinco seis siete ocho nueve diez doce veinte treinta cuarenta cincuenta cien ciento mil',
  'tre quattro sette otto nove dieci venti cento twee drie vijf zes zeven acht negen tien',
  'два две три четыре пять шесть семь восемь девять десять двадцать сто тысяча',
]
const IN_WORDS_OR_HAN = String.raw`[二三四五六七八九十百千万]|(?<!\p{L})(?:${NUMBERS.join(' ').split(' ').join('|')})(?!\p{L})`
const NUMBER_WORD = new RegExp(IN_WORDS_OR_HAN, 'iu')
/** Source of an expression for a number in digits or in words. */
export const A_NUMBER = String.raw`\p{N}|${IN_WORDS_OR_HAN}`
const [WITHOUT_NUMBER, IN_WORDS] = [0.5, 0.8]

export const numberFactor = (text: string): number =>
  /\p{N}/u.test(text) ? 1 : NUMBER_WORD.test(text) ? IN_WORDS : WITHOUT_NUMBER

const ANY_NUMBER = new RegExp(A_NUMBER, 'iu')
/** Whether the text holds a number, in digits or in words. */
export const containsNumber = (text: string): boolean => ANY_NUMBER.test(text)

export const asksForNumber = (question: string): boolean =>
  ANYWHERE.test(question) || AT_BEGINNING.test(question) || UNSPACED_WORDS.test(question)
