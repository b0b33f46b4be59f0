/** Units and magnitudes as they are written behind or before a number, in lower case. */

export interface Unit {
  /** Units of one family are convertible into each other; currencies are families of their own. */
  readonly family: string
  /** Size in the base unit of the family. */
  readonly factor: number
}

type Table = readonly (readonly [family: string, factor: number, names: string])[]

/** Days and months are no multiples of each other: ninety days are not three months. */
const UNITS: Table = [
  [
    'percent',
    1,
    '% percent per_cent pct prozent prozentpunkte prozentpunkten prozentpunkt prozentige prozentigen prozentiger prozentiges prozentig percentage procent procenten percentuale pourcent pour_cent por_ciento por_cento per_cento proc процент процента процентов процентный prosent prosenttia százalék yüzde パーセント 퍼센트 بالمئة بالمائة في_المئة في_المائة प्रतिशत pp τοις_εκατό procentních procenta',
  ],
  ['percent', 0.1, '‰ promille permille pro_mille per_mille'],
  ['percent', 0.01, 'bps bp basis_points basis_point basispunkte basispunkten'],
  [
    'length',
    1e-3,
    'mm millimeter millimeters millimetre millimetres millimètres millimetern мм ミリ ミリメートル 毫米 밀리미터',
  ],
  [
    'length',
    1e-2,
    'cm centimeter centimeters centimetre centimetres zentimeter zentimetern centimètre centimètres centímetro centímetros centimetri см センチ センチメートル 厘米 센티미터',
  ],
  [
    'length',
    1,
    'm meter meters metre metres metern mètre mètres metro metros metri м метр метра метров メートル 米 미터 متر أمتار मीटर',
  ],
  [
    'length',
    1e3,
    'km kilometer kilometers kilometre kilometres kilometern kilomètre kilomètres kilómetro kilómetros quilómetro quilómetros quilômetro quilômetros chilometro chilometri км километр километра километров キロメートル 公里 千米 킬로미터 كيلومتر كيلومترات किलोमीटर kilometrów kilometry',
  ],
  ['length', 0.0254, 'inch inches zoll pouce pouces pulgada pulgadas pollici ″ 英寸 インチ'],
  ['length', 0.3048, 'ft foot feet fuß pied pieds pies piedi 英尺 フィート'],
  ['length', 0.9144, 'yd yard yards'],
  ['length', 1609.344, 'mile miles meile meilen milla millas miglia 英里 マイル'],
  ['mass', 1e-6, 'mg milligram milligrams milligramm milligrammes miligramos мг ミリグラム 毫克'],
  ['mass', 1e-9, 'µg μg mcg microgram micrograms mikrogramm'],
  ['mass', 1e-3, 'g gram grams gramm gramme grammes gramo gramos grammi г грамм граммов グラム 克 그램 غرام'],
  [
    'mass',
    1,
    'kg kilo kilos kilogram kilograms kilogramm kilogrammes kilogramo kilogramos quilo quilos chilo chilogrammi кг килограмм килограммов キログラム キロ 千克 公斤 킬로그램 كيلوغرام किलो',
  ],
  ['mass', 1e3, 't tonne tonnes ton tons tonnen tonelada toneladas tonnellate т тонн тонны トン 吨 톤 طن'],
  ['mass', 0.45359237, 'lb lbs pound_weight'],
  ['mass', 0.028349523, 'oz ounce ounces unze unzen'],
  ['days', 1 / 86_400_000, 'ms millisecond milliseconds millisekunden millisecondes ミリ秒 毫秒'],
  [
    'days',
    1 / 86_400,
    's sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondo secondi seconden сек секунд секунды 秒 초 ثانية ثوان',
  ],
  [
    'days',
    1 / 1_440,
    'min mins minute minutes minuten minuto minutos minuti мин минут минуты 分 分間 分钟 分鐘 분 دقيقة دقائق मिनट minut minuty minuter minutter',
  ],
  [
    'days',
    1 / 24,
    'h hr hrs hour hours stunde stunden stündig stündige stündigen stündiger std heure heures hora horas ora ore uur uren час часа часов 時間 小时 小時 시간 ساعة ساعات घंटे timme timmar timer godzin godziny saat',
  ],
  [
    'days',
    1,
    'd day days tag tage tagen tages tägig tägige tägigen tägiger tägiges jour jours jou día días dia dias giorno giorni dag dagen dagar dage dager день дня дней дні 日 日間 天 일 일간 يوم أيام يوما दिन dzień dni dnů dny gün päivää',
  ],
  [
    'days',
    7,
    'week weeks woche wochen wöchig wöchige wöchigen wöchiger semaine semaines semana semanas settimana settimane weken vecka veckor uge uger uke uker неделя недели недель 週間 週 周 星期 주 주일 أسبوع أسابيع सप्ताह tydzień tygodnie tygodni hafta viikkoa',
  ],
  [
    'months',
    1,
    'month months monat monate monaten monats monatig monatige monatigen monatiger monatiges mois mes meses mês mese mesi maand maanden månad månader måned måneder месяц месяца месяцев か月 ヶ月 カ月 ヵ月 ケ月 箇月 个月 個月 月間 개월 달 شهر أشهر شهرا شهور महीने महीना miesiąc miesiące miesięcy měsíc měsíce měsíců ay kuukautta',
  ],
  ['months', 3, 'quarters quartale quartalen'],
  [
    'months',
    12,
    'yr yrs year years jahr jahre jahren jahres jährig jährige jährigen jähriger jähriges ans année années año años ano anos anno anni jaar jaren år год года лет годов рік років 年 年間 년 년간 سنة سنوات عام أعوام साल वर्ष rok lata lat roku roky let yıl vuotta',
  ],
  ['months', 120, 'decade decades jahrzehnt jahrzehnte jahrzehnten décennie décennies década décadas'],
  ['months', 1200, 'century centuries jahrhundert jahrhunderte siècle siècles siglo siglos'],
  ['volume', 1e-3, 'ml milliliter milliliters millilitre millilitres мл ミリリットル 毫升'],
  ['volume', 0.01, 'cl centilitre centiliter'],
  ['volume', 1, 'l liter liters litre litres litern litro litros litri л литр литров リットル 升 리터 لتر'],
  [
    'volume',
    1e3,
    'm³ m3 kubikmeter kubikmetern cbm cubic_meters cubic_metres cubic_metre mètres_cubes metros_cúbicos metri_cubi 立方メートル 立方米',
  ],
  ['volume', 3.785411784, 'gal gallon gallons gallonen'],
  [
    'area',
    1,
    'm² m2 qm quadratmeter quadratmetern sqm square_meters square_metres square_metre square_meter mètres_carrés mètre_carré metros_cuadrados metros_quadrados metri_quadrati 平方メートル 平方米 ㎡ 제곱미터 sq_m',
  ],
  ['area', 1e4, 'ha hectare hectares hektar hectárea hectáreas ettari ヘクタール 公顷'],
  [
    'area',
    1e6,
    'km² km2 qkm quadratkilometer quadratkilometern square_kilometers square_kilometres kilomètres_carrés kilómetros_cuadrados chilometri_quadrati 平方キロメートル 平方公里 平方千米',
  ],
  ['area', 0.09290304, 'sq_ft square_feet square_foot sqft ft² ft2'],
  ['area', 4046.8564224, 'acre acres'],
  ['celsius', 1, '°c ℃ degrees_celsius grad_celsius degrés_celsius grados_celsius gradi_celsius celsius 摄氏度'],
  ['fahrenheit', 1, '°f ℉ degrees_fahrenheit grad_fahrenheit fahrenheit'],
  ['angle', 1, '° degree degrees grad degré degrés grados gradi 度 도'],
  ['speed', 1, 'km/h kph kmh kilometers_per_hour kilometres_per_hour stundenkilometer'],
  ['speed', 1.609344, 'mph miles_per_hour'],
  ['speed', 3.6, 'm/s'],
  ['power', 1, 'w watt watts'],
  ['power', 1e3, 'kw kilowatt kilowatts'],
  ['power', 1e6, 'mw megawatt megawatts'],
  ['power', 1e9, 'gw gigawatt gigawatts'],
  ['power', 735.49875, 'ps hp horsepower'],
  ['energy', 1, 'wh wattstunden'],
  ['energy', 1e3, 'kwh kilowattstunde kilowattstunden kilowatt-hours'],
  ['energy', 1e6, 'mwh megawattstunden'],
  ['energy', 1e9, 'gwh gigawattstunden'],
  ['energy', 1e12, 'twh terawattstunden'],
  ['calories', 1, 'kcal kilocalories kalorien calories'],
  ['frequency', 1, 'hz hertz'],
  ['frequency', 1e3, 'khz'],
  ['frequency', 1e6, 'mhz'],
  ['frequency', 1e9, 'ghz'],
  ['voltage', 1, 'v volt volts'],
  ['current', 1e-3, 'ma'],
  ['data', 1, 'kb kib kilobyte kilobytes'],
  ['data', 1e3, 'mb mib megabyte megabytes'],
  ['data', 1e6, 'gb gib gigabyte gigabytes'],
  ['data', 1e9, 'tb tib terabyte terabytes'],
  ['pressure', 1, 'bar'],
  ['pressure', 1e-3, 'mbar hpa'],
  ['page', 1, 'page pages'],
  ['EUR', 1, '€ eur euro euros евро ευρώ ユーロ 欧元 유로 يورو'],
  ['EUR', 0.01, 'cents euro-cent eurocent'],
  [
    'USD',
    1,
    '$ us$ usd dollar dollars dólar dólares dollari dollaro доллар доллара долларов ドル 米ドル 美元 달러 دولار a$ c$ nt$ hk$ s$ cad aud hkd sgd us-dollar us-dollars',
  ],
  ['GBP', 1, '£ gbp pound pounds pfund sterling livres_sterling libras ポンド 英镑'],
  ['JPY/CNY', 1, '¥ jpy yen cny rmb yuan renminbi 円 元 日元 人民币 엔 위안'],
  ['CHF', 1, 'chf franken sfr'],
  ['INR', 1, '₹ inr rs rupees rupee rupien रुपये 卢比'],
  ['KRW', 1, '₩ krw 원 ウォン'],
  ['RUB', 1, '₽ rub rubel руб рублей рубля ruble rubles'],
  ['PLN', 1, 'zł pln złotych zloty'],
  ['CZK', 1, 'kč czk korun'],
  ['SEK/NOK/DKK', 1, 'kr sek nok dkk kronor kroner kronen crowns'],
  ['BRL', 1, 'r$ brl reais'],
  ['TRY', 1, '₺ lira'],
  ['HUF', 1, 'huf forint'],
]

const MAGNITUDES: readonly (readonly [value: number, names: string])[] = [
  [1e2, 'hundred hundert honderd hundra hundre 百 백'],
  [
    1e3,
    'thousand thousands k tausend tsd mille mil mila duizend tusen тыс тысяч тысячи tys tysięcy tisíc 千 천 ألف آلاف हज़ार',
  ],
  [1e4, '万 萬 만'],
  [1e5, 'lakh lakhs lac lacs लाख'],
  [
    1e6,
    'million millions mio mln mn millionen millón millones milione milioni milhão milhões miljoen miljoner millioner milj mill млн миллион миллиона миллионов milionów milion miliony milionu milyon miljoonaa 百万 百萬 백만 مليون ملايين दस_लाख',
  ],
  [1e7, 'crore crores cr करोड़'],
  [1e8, '億 亿 억'],
  [
    1e9,
    'billion billions bn mrd mrd. milliarde milliarden milliard milliards mld miliardo miliardi miljard miljarder milliarder miliard miliardów miliardy bilhão bilhões bilhao mil_millones mil_milhões mia млрд миллиард миллиарда миллиардов milyar 十億 十亿 مليار مليارات अरब',
  ],
  [
    1e12,
    'trillion trillions tn billionen billón billones biliões bilioni biljoen biljoner трлн триллион триллионов trilhão trilhões 兆 조 万亿',
  ],
]

const spaced = (names: string): string[] => names.split(' ').map((name) => name.replaceAll('_', ' ').trim())

/** Units and currencies whose names the runtime knows in many languages, in their plural forms. */
const RUNTIME_UNITS: Readonly<Record<string, string>> = { day: 'day', week: 'week', month: 'month', year: 'year', hour: 'hour', minute: 'minute', second: 'second', kilometer: 'km', meter: 'meter', centimeter: 'cm', millimeter: 'mm', mile: 'mile', kilogram: 'kg', gram: 'gram', liter: 'liter', hectare: 'ha', percent: '%' } // prettier-ignore
const RUNTIME_CURRENCIES = 'EUR USD GBP JPY CNY CHF INR KRW RUB PLN SEK NOK DKK CZK BRL'.split(' ')
const LOCALES = 'en de fr es it pt nl sv da nb fi pl cs sk hu ro bg ru uk el tr ca ar fa he hi th zh ja ko'.split(' ')
/** One of each plural form that these languages have. */
const PLURALS = [1, 2, 5]

interface Names {
  readonly units: Map<string, Unit>
  readonly magnitudes: Map<string, number>
}

let cachedNames: Names | undefined

/** Built with the first figure: the names of all languages take 100 ms. */
function unitNames(): Names {
  if (cachedNames) return cachedNames
  const units = new Map<string, Unit>()
  const magnitudes = new Map<string, number>()
  for (const [family, factor, names] of UNITS) for (const name of spaced(names)) units.set(name, { family, factor })
  for (const [value, names] of MAGNITUDES) for (const name of spaced(names)) magnitudes.set(name, value)
  const addNames = (format: Intl.NumberFormat, type: string, add: (name: string) => void, factor = 1) => {
    for (const count of PLURALS) {
      const parts = format.formatToParts(count * factor).filter((part) => part.type === type)
      const name = parts.map(({ value }) => value).join(' ').toLowerCase().replace(/[\s-]+/g, ' ').trim() // prettier-ignore
      if (name.length > 1) add(name)
    }
  }
  for (const locale of LOCALES) {
    const latin = `${locale}-u-nu-latn`
    for (const [unit, known] of Object.entries(RUNTIME_UNITS)) {
      const value = units.get(known)
      const format = new Intl.NumberFormat(latin, { style: 'unit', unit, unitDisplay: 'long' })
      if (value) addNames(format, 'unit', (name) => units.has(name) || units.set(name, value))
    }
    for (const currency of RUNTIME_CURRENCIES) {
      const value = units.get(currency.toLowerCase())
      const format = new Intl.NumberFormat(latin, {
        style: 'currency',
        currency,
        currencyDisplay: 'name',
        maximumFractionDigits: 0,
      })
      if (value) addNames(format, 'currency', (name) => units.has(name) || units.set(name, value))
    }
    const format = new Intl.NumberFormat(latin, { notation: 'compact', compactDisplay: 'long' })
    for (const value of [1e6, 1e9, 1e12])
      addNames(
        format,
        'compact',
        (name) => magnitudes.has(name) || units.has(name) || magnitudes.set(name, value),
        value,
      )
  }
  return (cachedNames = { units, magnitudes })
}

/** Tables and forms give amounts in thousands or millions of a currency in one sign. */
const SCALED_CURRENCIES: readonly (readonly [names: string, magnitude: number, currency: string])[] = [
  ['t€ teur k€ keur tsd.€', 1e3, 'eur'],
  ['m€ meur mio€ mio.€', 1e6, 'eur'],
  ['k$ kusd', 1e3, 'usd'],
  ['m$ musd', 1e6, 'usd'],
]
const SCALED = new Map(
  SCALED_CURRENCIES.flatMap(([names, magnitude, currency]) =>
    spaced(names).map((name) => [name, { magnitude, currency }] as const),
  ),
)

export const unitNamed = (name: string): Unit | undefined => unitNames().units.get(name)
export const magnitudeNamed = (name: string): number | undefined => unitNames().magnitudes.get(name)

/** Units that are also short words or letters of other meaning where they do not follow a number at once. */
const GLUED_MAGNITUDES: Readonly<Record<string, number>> = { m: 1e6, b: 1e9, t: 1e12, k: 1e3 }

export interface Measure {
  readonly magnitude: number
  readonly unit: Unit | undefined
  /** End of the words that were read. */
  readonly end: number
  /** A letter that may be a magnitude or a unit ("5m"): the reading as a magnitude. */
  readonly otherMagnitude?: number
}

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
const MAX_UNSPACED = 5
const WORD =
  /(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}])[\p{L}\p{M}])+(?:\/[\p{L}]{1,3}(?![\p{L}\p{N}]))?[²³]?(?:[23](?![\p{L}\p{N}]))?[$€]?|[%‰°″℃℉€$£¥₹₩₽₺㎡][cfCF]?(?!\p{L})|[%‰°″℃℉€$£¥₹₩₽₺㎡]/uy
const GAP = /[ \n]{0,2}-?[ \n]?(?:d['’](?=\p{L}))?/uy
const MAX_PARTS = 4
/** "dolarów amerykańskich", "square metres". */
const MAX_WORDS = 3

function stickyMatch(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

interface Named {
  readonly name: string
  readonly end: number
  readonly isGlued: boolean
}

/** Names at a place, the longest first. */
function namesAt(text: string, at: number): Named[] {
  const start = at + (stickyMatch(GAP, text, at)?.length ?? 0)
  const isGlued = start === at
  const first = text.charAt(start)
  if (UNSPACED.test(first))
    return Array.from({ length: MAX_UNSPACED }, (_, index) => MAX_UNSPACED - index).map((length) => ({
      name: text.slice(start, start + length),
      end: start + length,
      isGlued,
    }))
  const word = stickyMatch(WORD, text, start)
  if (word === undefined) return []
  const end = start + word.length
  const names: Named[] = []
  let phrase = word
  let phraseEnd = end
  for (let further = 1; further < MAX_WORDS; further += 1) {
    if (!/[ -]/.test(text.charAt(phraseEnd))) break
    const next = stickyMatch(WORD, text, phraseEnd + 1)
    if (next === undefined) break
    phrase = `${phrase} ${next}`
    phraseEnd += 1 + next.length
    names.unshift({ name: phrase, end: phraseEnd, isGlued })
  }
  // "Mio. Euro": the full stop belongs to the abbreviation.
  const isAbbreviated =
    word.length <= 4 && magnitudeNamed(word) !== undefined && /^\. ?[\p{L}€$£¥]/u.test(text.slice(end, end + 3))
  names.push({ name: word, end: isAbbreviated ? end + 1 : end, isGlued })
  return names
}

/** Magnitudes and the unit behind a number that ends at `at` ("1,5 Mio. Euro", "30-day", "3か月"). */
export function measureAt(text: string, at: number): Measure {
  let magnitude = 1
  let end = at
  let other: number | undefined
  for (let part = 0; part < MAX_PARTS; part += 1) {
    let advanced = false
    for (const { name, end: nameEnd, isGlued } of namesAt(text, end)) {
      const scaled = SCALED.get(name)
      if (scaled) return { magnitude: magnitude * scaled.magnitude, unit: unitNamed(scaled.currency), end: nameEnd }
      const glued = isGlued && part === 0 ? GLUED_MAGNITUDES[name] : undefined
      const unit = unitNamed(name)
      // "8,7 M €" is millions; "6 m." may be months.
      if (name === 'm' && /^(?: ?[€$£¥]|\.? ?(?:eur|usd|euros?)(?!\p{L}))/u.test(text.slice(nameEnd, nameEnd + 7))) {
        magnitude *= 1e6
        end = nameEnd
        advanced = true
        break
      }
      if (name === 'm' && /^\. [\p{Ll}]/u.test(text.slice(nameEnd, nameEnd + 3)))
        return { magnitude, unit: undefined, end: nameEnd }
      if (unit !== undefined && (glued === undefined || name === 't' || name === 'm')) {
        if (glued !== undefined) other = glued
        return { magnitude, unit, end: nameEnd, ...(other === undefined ? {} : { otherMagnitude: other }) }
      }
      const factor = glued ?? magnitudeNamed(name)
      if (factor === undefined) continue
      magnitude *= factor
      end = nameEnd
      advanced = true
      break
    }
    if (!advanced) break
  }
  return { magnitude, unit: undefined, end }
}

const BEFORE =
  /(?:us\$|a\$|c\$|r\$|hk\$|nt\$|s\$|t€|k€|m€|[$€£¥₹₩₽₺%]|(?<!\p{L})(?:usd|eur|euro|gbp|chf|jpy|cny|rmb|inr|rs|sek|nok|dkk|pln|czk|krw|brl|cad|aud|hkd|sgd|rub|huf|teur|meur|keur|百分之|百分の))\.? ?$/u
const MAX_BEFORE = 8

/** The currency before a number that begins at `at` ("EUR 5", "$5"), or a sign of percent ("%5"). */
export function measureBefore(text: string, at: number): (Measure & { readonly start: number }) | undefined {
  const found = BEFORE.exec(text.slice(Math.max(0, at - MAX_BEFORE), at))?.[0]
  if (found === undefined) return undefined
  const start = at - found.length
  const name = found.replace(/\.? ?$/, '')
  // The sign of another number: "5 % 7".
  if (/^[%€]$/.test(name) && /\d ?$/.test(text.slice(Math.max(0, start - 2), start))) return undefined
  const scaled = SCALED.get(name)
  if (scaled) return { magnitude: scaled.magnitude, unit: unitNamed(scaled.currency), start, end: at }
  const unit = unitNamed(name.startsWith('百分') ? '%' : name)
  return unit && { magnitude: 1, unit, start, end: at }
}

const UNATTACHED =
  /(?<=^|[(\s'’€$£¥\]/.,]|in )(?:thousands?|tsd\.?|tausend|teur|t€|k€|['’]000s?|000s?|millions?|millionen|mio\.?|mln\.?|mn|m€|meur|€m|\$m|millones|milioni|milhões|billions?|milliarden|mrd\.?|milliards|mld\.?|bn|crores?|lakhs?|тыс\.?|млн|млрд|百万円|千円|億円|万元|亿元|百万|百萬|万円)(?![\p{L}\p{N}])/gu
const ONES: Readonly<Record<string, number>> = {
  "'000": 1e3, '’000': 1e3, '000': 1e3, '000s': 1e3, "'000s": 1e3, teur: 1e3, 't€': 1e3, 'k€': 1e3, 'm€': 1e6, meur: 1e6, '€m': 1e6, '$m': 1e6, 百万円: 1e6, 千円: 1e3, 億円: 1e8, 万元: 1e4, 亿元: 1e8, 万円: 1e4,
} // prettier-ignore

/** Magnitudes that stand apart from numbers, as in the title of a column ("in EUR million"). */
export function unattachedMagnitudes(text: string): number[] {
  const found = new Set<number>()
  for (const { 0: word, index } of text.matchAll(UNATTACHED)) {
    if (/\d[ \n.,'’-]?$/.test(text.slice(Math.max(0, index - 2), index))) continue
    const magnitude = ONES[word] ?? magnitudeNamed(word)
    if (magnitude !== undefined) found.add(magnitude)
  }
  return [...found]
}
