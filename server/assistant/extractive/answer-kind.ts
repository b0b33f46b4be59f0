/** The kind of answer that a question asks for, and whether a text holds one of that kind. */
import { containsDate } from './dates.ts'
import { A_NUMBER, asksForNumber, containsNumber } from './numbers.ts'

/** `undefined`: the question does not say. */
export type AnswerKind =
  'percentage' | 'amount' | 'duration' | 'date' | 'number' | 'contact' | 'person' | 'place' | 'reason' | 'name'

/** Kinds that a text shows by its form. Persons, places and reasons also stand in other forms. */
export const VISIBLE_KINDS: ReadonlySet<AnswerKind> = new Set<AnswerKind>([
  'percentage',
  'amount',
  'duration',
  'date',
  'number',
  'contact',
])

/** Words of scripts with blanks, which match only whole; `*` stands for any ending. Bounded: time stays linear in a text. */
const wholeWords = (words: string): string =>
  String.raw`(?<!\p{L})(?:${words
    .trim()
    .replaceAll('*', String.raw`\p{L}{0,40}`)
    .split(/\s+/)
    .join('|')
    .replaceAll('_', String.raw`\s`)})(?!\p{L})`

const anyOf = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join('|'), 'iu')

const PERCENTAGES = [
  wholeWords(
    `percent per_cent percentage* proportion prozent* anteil pourcentage* pour_cent porcentaje* por_ciento percentual* per_cento
    porcentag* percentag* por_cento procent* percentages prosent* odsetek procenta процент* доля نسبة درصد بالمئة`,
  ),
  '百分|比例|パーセント|割合|퍼센트|비율|[%％٪‰]',
]

/** Nouns and verbs of money in questions. */
const MONEY_QUESTIONS = [
  wholeWords(
    `cost costs costing price prices priced fee fees salary salaries wage wages fine fined penalty dividend* rent tuition revenue* turnover
    profit* budget* compensation reimburse* charge* hourly_rate daily_rate pay paid pays money worth earn earns earned earning* damages fare
    kost* preis* gebühr* gehalt* gehälter lohn* löhne bußgeld* strafe* geldstrafe* dividende* miete* umsatz* umsätze gewinn* honorar* entgelt*
    verdien* bezahl* vergütung* \\p{L}+(?:preis|kosten|gebühr|vergütung|gehalt|miete|geld)
    coût* coûte* prix tarif* frais salaire* amende* loyer* bénéfice* chiffre_d'affaires indemnité* rémunér* payer paie
    cuesta* cuestan coste* costo* precio* tarifa* sueldo* salario* multa* dividendo* alquiler ingreso* beneficio* pagar pagan
    costa* costano prezz* tariff* stipend* affitto ricav* pagare paga preço* custa* custam custo* taxa* salári* renda aluguel lucro*
    prijs* prijzen kosten salaris* boete* huur omzet winst betaal* pris* kostnad* koster lønn* lön* avgift* gebyr* bot böter leie hyra
    cena* ceny kosztuj* opłat* pensja kara czynsz
    стоит стоят стоимость цена цены цену плата зарплат* оклад* штраф* дивиденд* выручк* прибыл* аренд* денег деньги платить
    سعر* ثمن تكلف* رسوم راتب* غرامة تعويض* قيمة الأرباح قیمت هزینه`,
  ),
  '价格|價格|费用|費用|多少钱|多少錢|收费|工资|薪水|罚款|股息|租金|奖金|赔偿|值段|値段|料金|費用|価格|いくら|給料|年収|罰金|配当|家賃|賞金|가격|요금|비용|임금|연봉|급여|벌금|배당|보험금|얼마',
]

const CURRENCIES = [
  String.raw`\p{Sc}|(?<![\p{L}])(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|KRW|AUD|CAD|NZD|SEK|NOK|DKK|PLN|RUB|BRL|MXN|CLP|ZAR|TRY|HKD|SGD|IRR|AED|SAR|EGP|UF|UTM|Rs\.?|kr\.?|zł|Fr\.|руб\.?|р\.)(?!\p{L})`,
  wholeWords(
    `euro euros dollar dollars pound pounds cent cents pence penny franc* franken rupee* yen yuan won peso* real reais krone* kroner kronor
    crore* lakh* mark marks dollari dólar* libra* sterline pfund ruble* rouble* rubel* рубл* евро доллар* копе* złot* دولار* يورو ريال* جنيه* درهم دينار* تومان`,
  ),
  String.raw`(?<=[\p{N}万亿億千百兆만억천조]\s?)(?:元|円|圓|块|원|ドル|ユーロ|달러|유로)|欧元|美元`,
]

const TIME_UNITS = [
  wholeWords(
    `second seconds minute minutes min mins hour hours day days week weeks fortnight* month months quarter* year years decade* overnight
    sekunde* minute* std stunde* tag tage tagen tages woche* monat* quartal* jahr jahre* jahren *(?:jährig|tägig|wöchig|monatig)*
    seconde* heure* jour* semaine* mois trimestre* an ans année* segundo* hora* día* semana* mes meses año* ora ore giorn* settiman* mese mesi ann[oi]
    dia* ano* mês uur uren dag dagen week weken maand* jaar jaren sekund* minutt* time timer timme timmar døgn dygn uke* veck* vecka måned* månad* år
    godzin* dni dzień tygod* miesi* lat lata rok* секунд* минут* час часа часов день дня дней сутки суток недел* месяц* год года лет
    ثانية دقيقة دقائق ساعة ساعات يوم أيام يوما أسبوع أسابيع شهر أشهر شهرا سنة سنوات عام أعوام روز ماه سال`,
  ),
  String.raw`(?<=[\p{N}一二三四五六七八九十百半两数几]\s?)(?:秒|分|个?小时|個?小時|天|日|周|週|个?星期|个?月|年|ヶ月|か月|時間|초|분|시간|일|주|개월|달|년)|하루|며칠|이틀|사흘`,
]

/** Months and days of the week where `containsDate` wants a number next to them, and times of the day. */
const TIMES = [
  String.raw`(?<![\d.,])(?:1[0-9]|20|21)\d\d(?![\d])|\b\d{1,2}[:.]\d\d\b|\b\d{1,2}\s?(?:am|pm|a\.m\.|p\.m\.|uhr|h)\b`,
  wholeWords(
    `monday* tuesday* wednesday* thursday* friday* saturday* sunday* today yesterday tomorrow noon midnight january february april june july august
    september october november december spring summer autumn winter
    montag* dienstag* mittwoch* donnerstag* freitag* samstag* sonnabend* sonntag* heute gestern morgen mittag* mitternacht januar februar märz mai juni
    juli oktober dezember frühling frühjahr sommer herbst
    lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août septembre octobre novembre décembre printemps été automne hiver
    lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio maggio giugno luglio settembre ottobre dicembre
    segunda-feira terça-feira quarta-feira quinta-feira sexta-feira janeiro fevereiro março maio junho julho setembro outubro dezembro
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart mei augustus
    mandag tirsdag onsdag torsdag fredag lørdag søndag måndag tisdag lördag söndag
    понедельник* вторник* сред* четверг* пятниц* суббот* воскресень* январ* феврал* март* апрел* ма[йя] июн* июл* август* сентябр* октябр* ноябр* декабр*
    styczni* luty lutego marc* kwietni* maj* czerwc* lipc* sierpni* wrzesie* wrześni* październik* listopad* grud*
    الأحد الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر`,
  ),
  '[0-9０-９一二三四五六七八九十]+[年月日时時点點]|星期|曜日|昨日|今日|明日|[0-9]+(?:년|월|일|시)|요일|오늘|내일|어제|[۰-۹٠-٩0-9]{4}[/-]',
]

const QUESTIONS: readonly (readonly [AnswerKind, RegExp])[] = [
  [
    'contact',
    anyOf(
      wholeWords(
        `telephone_number phone_number fax_number e-?mail email_address telefonnummer* faxnummer* rufnummer* e-mail-adresse numéro_de_téléphone adresse_e-?mail
        número_de_teléfono correo_electrónico numero_di_telefono número_de_telefone telefoonnummer telefonnummer номер_телефона numer_telefonu`,
      ),
      '电话|電話番号|メールアドレス|전화번호|رقم الهاتف',
    ),
  ],
  [
    'name',
    anyOf(
      wholeWords(
        `name_of names_of called title_of brand_of wie_hei(?:ß|ss)(?:t|en) name_de[rs] namen_de[rs] titel_de[rs] s'appelle s'appellent appelle-t-il appelle-t-elle nom_d[eu] titre_d[eu]
        se_llama se_llaman nombre_del? si_chiama si_chiamano nome_d* titolo_d* chama-se se_chama heet heten naam_van heter hedder navnet_på namnet_på nazywa nazywał*
        зовут звали называется называются имя название اسم`,
      ),
      '名前|名称|題名|何という|名字|叫什么|叫什麼|이름|제목|명칭',
    ),
  ],
  ['percentage', anyOf(...PERCENTAGES)],
  [
    'duration',
    anyOf(
      wholeWords(
        `how_long how_(?:many|much)_(?:more_)?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|time) notice_period wie_?lange wie_?viele?_(?:sekunden|minuten|stunden|tage|wochen|monate|jahre|zeit)
        combien_de_(?:temps|secondes|minutes|heures|jours|semaines|mois) combien_d'(?:heures|années) cuánto_(?:tiempo|dura*) cuánt[oa]s_(?:segundos|minutos|horas|días|semanas|meses|años)
        quanto_(?:tempo|dura) quant[ioe]_(?:minuti|ore|giorni|settimane|mesi|anni) quant[oa]s_(?:minutos|horas|dias|semanas|meses|anos)
        hoe_lang hoeveel_(?:minuten|uur|uren|dagen|weken|maanden|jaar|jaren|tijd) hvor_(?:lenge|længe|mange_(?:timer|dager|dage|uker|uger|måneder|år)) hur_(?:länge|många_(?:timmar|dagar|veckor|månader|år))
        как_долго сколько_(?:времени|минут|часов|дней|недель|месяцев|лет) jak_długo ile_(?:godzin|dni|tygodni|miesięcy|lat)`,
      ),
      'كم (?:يوما|ساعة|شهرا|سنة|من الوقت)|多久|多长时间|多長時間|几(?:天|小时|个月|年)|多少(?:天|小时|个月|年)|何(?:日間|時間|週間|か月|ヶ月|年間)|どのくらいの期間|얼마나 (?:오래|걸)|며칠|몇 (?:시간|주|개월|년|달)(?:간|동안)',
    ),
  ],
  [
    'date',
    anyOf(
      String.raw`^[^\p{L}]*(?:(?:since|until|till|by|from|and|ab|seit|bis|depuis|jusqu'à|desde|hasta|fino a|da|sinds|с|до|от)\s+)?(?:when|wann|quand|cuándo|cuando|quando|wanneer|når|hvornår|när|когда|kiedy|متى)(?!\p{L})`,
      wholeWords(
        `(?:what|which)_(?:date|day|year|month|time|season|weekday) (?:welche[mnrs]?)_(?:tag|datum|jahr|monat|uhrzeit) seit_wann ab_wann bis_wann since_when
        (?:quelle|quel)_(?:date|jour|année|mois|heure) (?:qué|cuál)_(?:fecha|día|año|mes|hora) (?:che|quale)_(?:data|giorno|anno|mese|ora) (?:que|qual)_(?:data|dia|ano|mês)
        (?:welke?)_(?:datum|dag|jaar|maand) (?:hvilke[nt])_(?:dato|dag|år) (?:vilke[nt])_(?:dag|datum|år) в_каком_году какого_числа w_którym_roku`,
      ),
      '什么时候|什麼時候|何时|何時|哪(?:一)?(?:年|天|月)|いつ|何(?:年|月|日)(?!間)|언제|몇 (?:년|월|일)|أي (?:عام|سنة|يوم|تاريخ)',
    ),
  ],
  [
    'person',
    anyOf(
      String.raw`^[^\p{L}]*(?:(?:and|by|to|with|from|for|von|mit|bei|par|de|por|da|van|av)\s+)?(?:who|whom|whose|wer|wem|wen|wessen|qui|quién|quiénes|chi|quem|wie(?=\s+(?:is|was|heeft|zijn|schreef))|hvem|vem|kto|кто|кого|кому|кем|من)(?!\p{L})`,
      '谁|誰|だれ|どなた|누가|누구',
    ),
  ],
  [
    'reason',
    anyOf(
      wholeWords(
        'why warum weshalb wieso weswegen pourquoi por_qué perché perchè waarom hvorfor varför почему зачем dlaczego لماذا چرا',
      ),
      '为什么|為什麼|为何|為何|なぜ|何故|どうして|왜',
    ),
  ],
  [
    'place',
    anyOf(
      String.raw`^[^\p{L}]*(?:(?:from|and|von|d')\s*)?(?:where|wo|woher|wohin|où|dónde|adónde|dove|onde|waar|hvor(?=\s+(?:er|ligger|skal|kan|finn))|var(?=\s+(?:är|ligger|finns))|где|куда|откуда|gdzie|أين)(?!\p{L})`,
      '哪里|哪裡|哪儿|どこ|何処|어디',
    ),
  ],
]

/** Where money is asked for, the question also says "what", "how much" or "how high". */
const ASKS_WHAT = anyOf(
  String.raw`^[^\p{L}]*(?:(?:and|at|for|und|et|y|e)\s+)?(?:what|which|was|wie|welche\p{L}*|quel\p{L}*|à quel\p{L}*|cuál\p{L}*|qué|qual\p{L}*|quale|che|wat|welke?|hva|vad|hvilke\p{L}*|vilke\p{L}*|jak\p{L}*|какой|каков\p{L}*|какая|какие|ما|كم)(?!\p{L})`,
  wholeWords('how_much how_high at_what what_is wie_hoch wie_?viel'),
)

const ASKS_MONEY = anyOf(...MONEY_QUESTIONS)
/** "How many" asks for a number, of whatever else the question speaks. */
const COUNTS = anyOf(
  wholeWords(
    'how_many wie_?viele number_of combien_de cuánt[oa]s quant[ie] quant[oa]s hoeveel_\\p{L}+en hvor_mange hur_många сколько_(?!стоит|стоят|денег)\\p{L}+ ilu ile_(?!kosztuj)\\p{L}+',
  ),
  '几[个人次]|何[人個回本件]|몇 (?:명|개|번)|كم عدد',
)

/** @returns the kind of answer that the words of the question ask for */
export function answerKindOf(question: string): AnswerKind | undefined {
  const isNumeric = asksForNumber(question)
  const found = QUESTIONS.find(([, pattern]) => pattern.test(question))?.[0]
  const mayBeMoney = found === undefined && (isNumeric || ASKS_WHAT.test(question))
  if (mayBeMoney && ASKS_MONEY.test(question) && !COUNTS.test(question)) return 'amount'
  return found ?? (isNumeric ? 'number' : undefined)
}

/** A unit next to its number: "12 % ", "EUR 4.50", "three to five working days". */
const nearNumber = (units: readonly string[]): RegExp => {
  const [unit, number] = [`(?:${units.join('|')})`, `(?:${A_NUMBER})`]
  return new RegExp(`${number}[^.!?。|\\n]{0,24}?${unit}|${unit}[^.!?。|\\n]{0,16}?${number}`, 'iu')
}

const HAS_PERCENTAGE = nearNumber(PERCENTAGES)
const HAS_CURRENCY = nearNumber(CURRENCIES)
/** "A few months" is a duration without a number. */
const SOME = wholeWords(
  `a_few several some a_couple_of half_an? einige[nr]? mehrere[nr]? wenige[nr]? quelques plusieurs varios varias algunos algunas unos unas alcuni alcune
  qualche alguns algumas vários enkele noen flere några flera kilka несколько عدة بضعة`,
)
const SOME_TIME = new RegExp(
  String.raw`(?:${SOME})\s{1,3}(?:${TIME_UNITS[0] ?? ''})|数(?:秒|分|時間|日|週間|か月|ヶ月|年)|几(?:个小时|天|周|个月|年)|몇 (?:시간|일|주|개월|달|년)`,
  'iu',
)
const HAS_COUNTED_TIME = nearNumber(TIME_UNITS)
const HAS_TIME_UNIT = { test: (text: string) => HAS_COUNTED_TIME.test(text) || SOME_TIME.test(text) }
const HAN_NUMBER = '[\\p{N}一二三四五六七八九十百半两数几]'
const HAN_TIME_UNIT = '(?:秒|分钟?|小时|時間|天|日|周|週間?|个?星期|个?月|か月|ヶ月|年)'
/** A duration next to a word that makes a time of it: "four weeks after surgery", "nach drei Tagen". */
const HAS_RELATIVE_TIME = anyOf(
  ...[
    String.raw`(?:${A_NUMBER})[^.!?。|\n]{0,24}?${TIME_UNITS[0] ?? ''}`,
    String.raw`(?:${SOME})\s${TIME_UNITS[0] ?? ''}`,
  ].flatMap((time) => [
    String.raw`${time}\s${wholeWords(
      `after before later earlier ago prior following nach vor(?!_allem) später zuvor après avant plus_tard después antes más_tarde
      dopo prima più_tardi depois mais_tarde eerder etter før senere efter före senare после спустя назад`,
    )}`,
    String.raw`${wholeWords(
      `after within nach innerhalb innerhalb_von binnen après tras dopo entro após na etter efter inom innen через بعد قبل خلال`,
    )}\s(?:\p{L}{1,12}\s)?${time}`,
  ]),
  String.raw`${HAN_NUMBER}\s?${HAN_TIME_UNIT}(?:[以之]?[后後前内內])`,
  String.raw`[后後前]约?${HAN_NUMBER}{1,4}\s?${HAN_TIME_UNIT}`,
  String.raw`\p{N}\s?(?:초|분|시간|일|주|개월|달|년)\s?(?:전|후|뒤|이내)(?:에|의|부터)?(?!\p{L})`,
)
/** In a table the unit may stand in the title of its column or in a note above. */
const ROW = /\S\s*\|\s*\S/
const ROW_UNITS = { percentage: anyOf(...PERCENTAGES), amount: anyOf(...CURRENCIES), duration: anyOf(...TIME_UNITS) }
const holdsInRow = (kind: keyof typeof ROW_UNITS, text: string): boolean =>
  ROW.test(text) && containsNumber(text) && ROW_UNITS[kind].test(text)
const HAS_TIME = anyOf(...TIMES)
const HAS_CONTACT = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+\.|(?:\+|\(|\b)\p{N}[\p{N} ()/.-]{5,}\p{N}/u
const HAS_REASON = anyOf(
  wholeWords(
    `because since due reason* therefore thus hence cause* as so to for weil da denn deshalb daher grund gründe um damit wegen aufgrund
    car parce puisque raison* afin pour donc porque pues ya_que razón por para poiché siccome quindi per pois já_que portanto omdat want daarom om
    fordi derfor därför eftersom för å att потому так_как поскольку чтобы из-за ибо bo ponieważ gdyż żeby aby لأن بسبب لكي`,
  ),
  '因为|因為|由于|所以|ため|から|ので|때문|위해|므로|니까',
)
/** A name: a capital that begins no sentence, a word in quotation marks, or a script that has no capitals. */
const HAS_NAME =
  /(?<=[\p{L}\p{N},;)»”"'’]\s{1,3}\(?)\p{Lu}\p{L}|\p{Lu}\p{L}*[ -]\p{Lu}|["“„«「『]|[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thai}]/u

const HOLDS: Readonly<Record<AnswerKind, (text: string) => boolean>> = {
  percentage: (text) => HAS_PERCENTAGE.test(text) || holdsInRow('percentage', text),
  // A fee or a rate of interest is often a share.
  amount: (text) => HAS_CURRENCY.test(text) || HAS_PERCENTAGE.test(text) || holdsInRow('amount', text),
  duration: (text) => HAS_TIME_UNIT.test(text) || holdsInRow('duration', text),
  date: (text) => containsDate(text) || HAS_TIME.test(text) || HAS_RELATIVE_TIME.test(text),
  number: containsNumber,
  contact: (text) => HAS_CONTACT.test(text),
  person: (text) => HAS_NAME.test(text),
  place: (text) => HAS_NAME.test(text),
  reason: (text) => HAS_REASON.test(text),
  name: (text) => HAS_NAME.test(text),
}

/** Whether the text holds an answer of this kind, whatever it is about. */
export const holdsAnswer = (kind: AnswerKind, text: string): boolean => HOLDS[kind](text)
