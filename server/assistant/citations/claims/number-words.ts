/** Numbers written as words, in the languages that the product reads; built once, from the parts of each language. */

type Values = ReadonlyMap<string, number>

/** "0 1 2 … 19", then the tens from 20 to 90; alternatives are separated by a slash, and a dash leaves one out. */
const PARTS: Readonly<Record<string, readonly [ones: string, tens: string]>> = {
  english: [
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
    'twenty thirty forty fifty sixty seventy eighty ninety',
  ],
  german: [
    'null ein/eins/eine/einen/einem/einer/eines zwei/zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn',
    'zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig',
  ],
  french: [
    'zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf',
    'vingt trente quarante cinquante soixante septante/soixante-dix quatre-vingt/quatre-vingts nonante/quatre-vingt-dix',
  ],
  spanish: [
    'cero un/uno/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve',
    'veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa',
  ],
  italian: [
    'zero un/uno/una due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove',
    'venti trenta quaranta cinquanta sessanta settanta ottanta novanta',
  ],
  portuguese: [
    'zero um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze treze catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove',
    'vinte trinta quarenta cinquenta sessenta setenta oitenta noventa',
  ],
  dutch: [
    'nul een/één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien',
    'twintig dertig veertig vijftig zestig zeventig tachtig negentig',
  ],
  swedish: [
    'noll en/ett två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton arton nitton',
    'tjugo trettio fyrtio femtio sextio sjuttio åttio nittio',
  ],
  danish: [
    'nul en/et to tre fire fem seks syv otte ni ti elleve tolv tretten fjorten femten seksten sytten atten nitten',
    'tyve tredive fyrre halvtreds tres halvfjerds firs halvfems',
  ],
  norwegian: [
    'null en/ett to tre fire fem seks sju/syv åtte ni ti elleve tolv tretten fjorten femten seksten sytten atten nitten',
    'tjue tretti førti femti seksti sytti åtti nitti',
  ],
  polish: [
    'zero jeden/jedna/jedno dwa/dwie/dwóch/dwoje trzy/trzech/troje cztery/czterech pięć/pięciu sześć/sześciu siedem/siedmiu osiem/ośmiu dziewięć/dziewięciu dziesięć/dziesięciu jedenaście dwanaście/dwunastu trzynaście czternaście/czternastu piętnaście/piętnastu szesnaście siedemnaście osiemnaście dziewiętnaście',
    'dwadzieścia/dwudziestu trzydzieści/trzydziestu czterdzieści pięćdziesiąt sześćdziesiąt/sześćdziesięciu siedemdziesiąt osiemdziesiąt dziewięćdziesiąt/dziewięćdziesięciu',
  ],
  czech: [
    'nula jeden/jedna/jedno/jednoho dva/dvě/dvou tři/tří čtyři/čtyř pět/pěti šest/šesti sedm/sedmi osm/osmi devět/devíti deset/deseti jedenáct dvanáct/dvanácti třináct čtrnáct/čtrnácti patnáct/patnácti šestnáct sedmnáct osmnáct devatenáct',
    'dvacet/dvaceti třicet/třiceti čtyřicet padesát šedesát/šedesáti sedmdesát osmdesát devadesát/devadesáti',
  ],
  russian: [
    'ноль один/одна/одно/одного/одной два/две/двух/двумя три/трёх/трех/тремя четыре/четырёх/четырех пять/пяти шесть/шести семь/семи восемь/восьми девять/девяти десять/десяти одиннадцать/одиннадцати двенадцать/двенадцати тринадцать/тринадцати четырнадцать/четырнадцати пятнадцать/пятнадцати шестнадцать/шестнадцати семнадцать/семнадцати восемнадцать/восемнадцати девятнадцать/девятнадцати',
    'двадцать/двадцати тридцать/тридцати сорок/сорока пятьдесят/пятидесяти шестьдесят/шестидесяти семьдесят/семидесяти восемьдесят/восьмидесяти девяносто',
  ],
  turkish: [
    'sıfır bir iki üç dört beş altı yedi sekiz dokuz on - - - - - - - - -',
    'yirmi otuz kırk elli altmış yetmiş seksen doksan',
  ],
  arabic: [
    'صفر واحد/واحدة اثنان/اثنين/اثنتان/اثنتين ثلاثة/ثلاث أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع ثمانية/ثماني/ثمان تسعة/تسع عشرة/عشر - - - - - - - - -',
    'عشرون/عشرين ثلاثون/ثلاثين أربعون/أربعين خمسون/خمسين ستون/ستين سبعون/سبعين ثمانون/ثمانين تسعون/تسعين',
  ],
  hindi: [
    'शून्य एक दो तीन चार पाँच/पांच छह/छः सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस',
    'बीस तीस चालीस पचास साठ सत्तर अस्सी नब्बे',
  ],
  greek: [
    'μηδέν ένα/μία/ένας δύο τρεις/τρία/τριών τέσσερις/τέσσερα πέντε έξι επτά/εφτά οκτώ/οχτώ εννέα/εννιά δέκα έντεκα δώδεκα δεκατρία δεκατέσσερα δεκαπέντε δεκαέξι δεκαεπτά δεκαοκτώ δεκαεννέα',
    'είκοσι τριάντα σαράντα πενήντα εξήντα εβδομήντα ογδόντα ενενήντα',
  ],
}

/** From the third on; the first two are as often an order of sentences, or a unit. */
const ORDINALS: Readonly<Record<string, string>> = {
  english: 'third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth',
  french: 'troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième treizième quatorzième quinzième seizième - - - vingtième',
  spanish: 'tercero/tercera/tercer cuarto/cuarta quinto/quinta sexto/sexta séptimo/séptima octavo/octava noveno/novena décimo/décima',
  italian: 'terzo/terza quarto/quarta quinto/quinta sesto/sesta settimo/settima ottavo/ottava nono/nona decimo/decima',
  portuguese: 'terceiro/terceira quarto/quarta quinto/quinta sexto/sexta sétimo/sétima oitavo/oitava nono/nona décimo/décima',
  german: 'dritte/dritten/dritter/drittes vierte/vierten/vierter/viertes fünfte/fünften/fünfter sechste/sechsten/sechster siebte/siebten/siebter achte/achten/achter neunte/neunten/neunter zehnte/zehnten/zehnter elfte/elften zwölfte/zwölften',
  dutch: 'derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde',
} // prettier-ignore

const MULTIPLIERS: Readonly<Record<string, string>> = {
  hundred: 'hundred hundert cent cents ciento cien cento honderd hundra hundrede hundre sto sta сто εκατό मائة सौ مائة مئة',
  thousand: 'thousand tausend mille mil mila duizend tusen tusind tysiąc tysiące tysięcy tisíc тысяча тысячи тысяч bin χίλια ألف हज़ार हजार',
} // prettier-ignore
const FUSED_HUNDREDS: Readonly<Record<string, number>> = { doscientos: 200, doscientas: 200, trescientos: 300, trescientas: 300, cuatrocientos: 400, cuatrocientas: 400, quinientos: 500, quinientas: 500, seiscientos: 600, setecientos: 700, ochocientos: 800, novecientos: 900, duzentos: 200, duzentas: 200, trezentos: 300, quatrocentos: 400, quinhentos: 500, seiscentos: 600, setecentos: 700, oitocentos: 800, novecentos: 900, двести: 200, триста: 300, четыреста: 400, пятьсот: 500, шестьсот: 600, семьсот: 700, восемьсот: 800, девятьсот: 900, dwieście: 200, trzysta: 300, czterysta: 400, pięćset: 500 } // prettier-ignore
const DOZENS = 'dozen dutzend douzaine docena dozzina dúzia dozijn'

/** Words of other languages as well: they count where the text is in a language in which they are numbers. */
const AMBIGUOUS = new Set('once due to fire ti sex sei elf six dix nove tre tres tri set sem sto mil mille tio en ni ett et null on iki bir un une una uno um uma een ein eine einen einem einer eines nul neuf cent cents cento cien ten vier acht bin sta dos due duas seis sete cinco quatro otte tien zes onze nono nona sexta quinta quarta quarto quarti sexto quinto octava tercer terza sexta dieci venti quinze seize zero tres firs elli altı yedi sept huit sju fem siete seize douze quatorze treize cinq trois doce once tolv atten arton nio två'.split(' ')) // prettier-ignore

interface Word {
  readonly language: string
  readonly value: number
  readonly isOrdinal: boolean
}

let cachedWords: ReadonlyMap<string, readonly Word[]> | undefined

const variants = (written: string | undefined): string[] =>
  written === undefined || written === '-' ? [] : written.split('/')

/** How a language fuses tens and ones into one word; undefined where it writes two words. */
const FUSIONS: Readonly<Record<string, (ten: string, one: string) => readonly string[]>> = {
  german: (ten, one) => [`${one}und${ten}`],
  dutch: (ten, one) => [`${one}en${ten}`, `${one}ën${ten}`],
  danish: (ten, one) => [`${one}og${ten}`],
  swedish: (ten, one) => [`${ten}${one}`],
  norwegian: (ten, one) => [`${ten}${one}`],
  italian: (ten, one) => [/^[uo]/.test(one) ? `${ten.slice(0, -1)}${one}` : `${ten}${one}`, `${ten}tré`],
  spanish: (ten, one) => (ten === 'veinte' ? [`veinti${one}`, `veinti${one === 'dos' ? 'dós' : one === 'tres' ? 'trés' : one === 'seis' ? 'séis' : one}`] : []),
} // prettier-ignore

function buildWords(): ReadonlyMap<string, readonly Word[]> {
  const words = new Map<string, Word[]>()
  const add = (word: string, value: number, language: string, isOrdinal = false) => {
    const known = words.get(word) ?? []
    if (!known.some((other) => other.language === language)) words.set(word, [...known, { language, value, isOrdinal }])
  }
  for (const [language, [ones, tens]] of Object.entries(PARTS)) {
    const small = ones.split(' ').map(variants)
    const large = tens.split(' ').map(variants)
    for (const [value, written] of small.entries()) for (const word of written) add(word, value, language)
    for (const [index, written] of large.entries()) {
      const ten = (index + 2) * 10
      for (const word of written) add(word, ten, language)
      for (const [value, ofOne] of small.slice(0, 10).entries()) {
        if (value === 0) continue
        for (const one of ofOne)
          for (const word of written)
            for (const fused of FUSIONS[language]?.(word, one) ?? []) if (!fused.endsWith('tré') || value === 3) add(fused, ten + value, language) // prettier-ignore
      }
    }
  }
  for (const [language, written] of Object.entries(ORDINALS))
    for (const [index, ofOne] of written.split(' ').map(variants).entries())
      for (const word of ofOne) add(word, index + 3, language, true)
  for (const word of DOZENS.split(' ')) add(word, 12, '')
  for (const [word, value] of Object.entries(FUSED_HUNDREDS)) add(word, value, '')
  return words
}

const MULTIPLIER_OF: Values = new Map(
  Object.entries(MULTIPLIERS).flatMap(([name, words]) =>
    words.split(' ').map((word) => [word, name === 'hundred' ? 100 : 1_000] as const),
  ),
)

const isOfText = (word: string, language: string, languages: readonly string[]) =>
  languages.includes(language) || !AMBIGUOUS.has(word)

const SCANDINAVIAN = ['swedish', 'danish', 'norwegian']

/** Languages whose numbers a text in the given language may hold: neighbours are told apart unreliably. */
export const numeralLanguages = (language: string): readonly string[] =>
  SCANDINAVIAN.includes(language) ? SCANDINAVIAN : [language]

/** "dreihundertfünfundzwanzig": German and Dutch write a number below a million in one word. */
function fusedValue(word: string, find: (part: string) => number | undefined): number | undefined {
  for (const [multiplier, names] of [
    [1_000, ['tausend', 'duizend', 'mila', 'mille']],
    [100, ['hundert', 'honderd', 'cento', 'hundra']],
  ] as const) {
    for (const name of names) {
      const at = word.indexOf(name)
      if (at === -1) continue
      const [before, after] = [word.slice(0, at), word.slice(at + name.length).replace(/^und/, '')]
      const left = before === '' ? 1 : (find(before) ?? fusedValue(before, find))
      const right = after === '' ? 0 : (find(after) ?? fusedValue(after, find))
      return left === undefined || right === undefined ? undefined : left * multiplier + right
    }
  }
  return undefined
}

const MAX_FUSED = 40

function wordValue(word: string, languages: readonly string[]): Word | undefined {
  cachedWords ??= buildWords()
  const known = cachedWords.get(word)
  const own = known?.find(({ language }) => languages.includes(language)) ?? known?.[0]
  if (own) return isOfText(word, own.language, languages) ? own : undefined
  if (word.length > MAX_FUSED || !/(?:hundert|tausend|honderd|duizend|cento|hundra|mila)/.test(word)) return undefined
  const values = cachedWords
  const value = fusedValue(word, (part) => values.get(part)?.find(({ isOrdinal }) => !isOrdinal)?.value)
  return value === undefined || value < 100 ? undefined : { language: '', value, isOrdinal: false }
}

export interface WrittenNumber {
  readonly value: number
  readonly start: number
  readonly end: number
  readonly isOrdinal: boolean
}

const TOKEN = /[\p{L}\p{M}]+/gu
const JOINED = /^(?:[ \n]|-| (?:and|et|und|y|e|og|och|en|i|и|و) |-(?:et|and)-)$/
const CONJUNCTIONS = new Set(['and', 'et', 'und', 'y', 'e', 'og', 'och', 'en', 'i', 'и', 'و'])

interface Token {
  readonly word: string
  readonly start: number
  readonly end: number
}

/** "quatre-vingt-dix" and "soixante-dix-sept": the longest word that is known, hyphens included. */
function hyphenated(tokens: readonly Token[], index: number, text: string): Token | undefined {
  const first = tokens[index]
  if (!first) return undefined
  for (let last = Math.min(index + 2, tokens.length - 1); last > index; last -= 1) {
    const token = tokens[last]
    if (!token || token.end - first.start > MAX_FUSED) continue
    const word = text.slice(first.start, token.end)
    if (/^[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)+$/u.test(word) && cachedWords?.has(word) === true)
      return { word, start: first.start, end: token.end }
  }
  return undefined
}

/** Numbers written as words in a folded text. Quick for texts without any: every word is looked up once. */
export function findNumberWords(text: string, languages: readonly string[]): WrittenNumber[] {
  cachedWords ??= buildWords()
  const tokens: Token[] = [...text.matchAll(TOKEN)].map(({ 0: word, index }) => ({
    word,
    start: index,
    end: index + word.length,
  }))
  const found: WrittenNumber[] = []
  let open: { total: number; part: number; last: number; start: number; end: number; isOrdinal: boolean } | undefined
  const close = () => {
    if (open) found.push({ value: open.total + open.part, start: open.start, end: open.end, isOrdinal: open.isOrdinal })
    open = undefined
  }
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index]
    if (!token) break
    const whole = hyphenated(tokens, index, text) ?? token
    const gap = open ? text.slice(open.end, whole.start) : ''
    if (open && (gap.length > 6 || !JOINED.test(gap))) {
      if (!(CONJUNCTIONS.has(token.word) && /^[ -]$/.test(gap))) close()
      else continue
    }
    const number = wordValue(whole.word, languages)
    const multiplier = MULTIPLIER_OF.get(whole.word)
    if (open && !open.isOrdinal && multiplier !== undefined && open.last !== multiplier) {
      if (multiplier === 100) open.part = Math.max(1, open.part) * 100
      else [open.total, open.part] = [open.total + Math.max(1, open.part) * 1_000, 0]
      open.last = multiplier
      open.end = whole.end
    } else if (number) {
      const fits = open && !open.isOrdinal && (number.value < open.last || open.last >= 100) && number.value < open.last
      if (open && fits) {
        open.part += number.value
        open.last = number.value < 10 ? 1 : number.value < 20 ? 1 : 10
        open.end = whole.end
        open.isOrdinal = number.isOrdinal
      } else {
        close()
        const last = number.value >= 100 ? 100 : number.value >= 20 && number.value % 10 === 0 ? 10 : 1
        open = { total: 0, part: number.value, last, start: whole.start, end: whole.end, isOrdinal: number.isOrdinal }
      }
    } else if (multiplier !== undefined && isOfText(whole.word, '', languages)) {
      close()
      open = {
        total: multiplier === 1_000 ? 1_000 : 0,
        part: multiplier === 100 ? 100 : 0,
        last: multiplier,
        start: whole.start,
        end: whole.end,
        isOrdinal: false,
      }
    } else close()
    while ((tokens[index + 1]?.start ?? Infinity) < whole.end) index += 1
  }
  close()
  return found
}
