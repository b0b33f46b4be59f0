/** Days on which documents were added, as questions name them: "yesterday", "last week", "in May 2025". Pure. */

/** Times on the clock of the person who asks (`wall-clock.ts`); `to` is excluded. */
export interface DaySpan {
  readonly from: Date
  readonly to: Date
}

const bounded = (spaced: string, unspaced: string): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{M}\\p{N}])(?:${spaced})(?![\\p{L}\\p{M}\\p{N}])${unspaced === '' ? '' : `|${unspaced}`}`,
    'gu',
  )

const startOfDay = (date: Date, days = 0) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + days)
const startOfWeek = (date: Date, weeks = 0) => startOfDay(date, weeks * 7 - ((date.getDay() + 6) % 7))
const startOfMonth = (year: number, month: number) => new Date(year, month, 1)

const NAMED_SPANS: readonly (readonly [pattern: RegExp, span: (now: Date) => DaySpan])[] = [
  [
    bounded(
      'the day before yesterday|vorgestern|avant hier|anteayer|l altro ieri|anteontem|eergisteren|позавчера|i förrgår|i forgårs|przedwczoraj|evvelsi gün|أول أمس',
      '一昨日|おととい|前天|그저께',
    ),
    (now) => ({ from: startOfDay(now, -2), to: startOfDay(now, -1) }),
  ],
  [
    bounded(
      'yesterday|gestern|hier|ayer|ieri|ontem|gisteren|вчера|igår|i går|wczoraj|dün|أمس|البارحة',
      '昨日|昨天|어제',
    ),
    (now) => ({ from: startOfDay(now, -1), to: startOfDay(now) }),
  ],
  [
    bounded(
      'today|heute|aujourd hui|hoy|oggi|hoje|vandaag|сегодня|idag|i dag|dzisiaj|dziś|bugün|اليوم',
      '今日|本日|今天|오늘',
    ),
    (now) => ({ from: startOfDay(now), to: startOfDay(now, 1) }),
  ],
  [
    bounded(
      '(?:in )?(?:this|the current) week|(?:in )?diese[rn]? woche|cette semaine|esta semana|questa settimana|deze week|(?:на )?этой неделе|эту неделю|den här veckan|denna vecka|denne uk(?:en|a)|denne uge|(?:w )?tym tygodniu|bu hafta|هذا الأسبوع',
      '今週|这周|这个星期|本周|本週|這週|이번 ?주',
    ),
    (now) => ({ from: startOfWeek(now), to: startOfWeek(now, 1) }),
  ],
  [
    bounded(
      '(?:in |during )?(?:the )?(?:last|previous|past) week|(?:in der |die )?(?:letzte[nr]?|vergangene[nr]?|vorige[nr]?) woche|(?:la )?semaine (?:dernière|passée)|(?:la )?(?:semana pasada|última semana)|(?:la )?(?:settimana scorsa|scorsa settimana)|(?:na )?semana passada|(?:vorige|afgelopen) week|(?:на )?прошл\\p{L}+ недел\\p{L}+|förra veckan|(?:i )?forrige uke|(?:i )?sidste uge|(?:w )?(?:zeszłym|ubiegłym) tygodniu|geçen hafta|الأسبوع الماضي',
      '先週|上周|上週|上个星期|上星期|지난 ?주',
    ),
    (now) => ({ from: startOfWeek(now, -1), to: startOfWeek(now) }),
  ],
  [
    bounded(
      '(?:in )?(?:this|the current) month|(?:in )?diesem monat|diesen monat|ce mois(?: ci)?|este mes|questo mese|este mês|deze maand|(?:в )?этом месяце|den här månaden|denna månad|denne måneden|denne måned|(?:w )?tym miesiącu|bu ay|هذا الشهر',
      '今月|这个月|本月|這個月|이번 ?달',
    ),
    (now) => ({
      from: startOfMonth(now.getFullYear(), now.getMonth()),
      to: startOfMonth(now.getFullYear(), now.getMonth() + 1),
    }),
  ],
  [
    bounded(
      '(?:in |during )?(?:the )?(?:last|previous|past) month|(?:im )?(?:letzten|vergangenen|vorigen) monat|(?:le )?mois (?:dernier|passé)|(?:el )?mes pasado|(?:il )?(?:mese scorso|scorso mese)|(?:no )?mês passado|(?:vorige|afgelopen) maand|(?:в )?прошлом месяце|förra månaden|(?:i )?forrige måned|(?:i )?sidste måned|(?:w )?(?:zeszłym|ubiegłym) miesiącu|geçen ay|الشهر الماضي',
      '先月|上个月|上個月|上月|지난 ?달',
    ),
    (now) => ({
      from: startOfMonth(now.getFullYear(), now.getMonth() - 1),
      to: startOfMonth(now.getFullYear(), now.getMonth()),
    }),
  ],
  [
    bounded(
      '(?:in )?this year|(?:in )?diesem jahr|dieses jahr|cette année|este año|quest anno|este ano|dit jaar|(?:в )?этом году|i år|(?:w )?tym roku|bu yıl|هذا العام|هذه السنة',
      '今年|올해',
    ),
    (now) => ({ from: startOfMonth(now.getFullYear(), 0), to: startOfMonth(now.getFullYear() + 1, 0) }),
  ],
  [
    bounded(
      '(?:in )?(?:the )?(?:last|previous|past) year|(?:im )?(?:letzten|vergangenen|vorigen) jahr|letztes jahr|(?:l )?(?:année (?:dernière|passée)|an dernier)|(?:el )?año pasado|(?:l )?(?:anno scorso|scorso anno)|(?:no )?ano passado|(?:vorig|afgelopen) jaar|(?:в )?прошлом году|förra året|(?:i )?fjor|sidste år|(?:w )?(?:zeszłym|ubiegłym) roku|geçen yıl|العام الماضي|السنة الماضية',
      '昨年|去年|작년|지난해',
    ),
    (now) => ({ from: startOfMonth(now.getFullYear() - 1, 0), to: startOfMonth(now.getFullYear(), 0) }),
  ],
]

const LOCALES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'ru', 'sv', 'nb', 'pl', 'tr', 'ar']

/** Names of the months, of which Russian and Polish have two forms: alone and after a day. */
const MONTHS: readonly string[] = Array.from({ length: 12 }, (_, month) => {
  const day = new Date(2024, month, 5)
  const names = LOCALES.flatMap((locale) => [
    new Intl.DateTimeFormat(locale, { month: 'long' }).format(day),
    ...(new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long' }).format(day).match(/\p{L}{3,}/gu) ?? []),
  ])
  const forms = names.map((name) => name.normalize('NFKC').toLowerCase())
  const russian = forms.filter((name) => /^[а-яё]/u.test(name)).map((name) => `${name.replace(/[ьйяа]$/u, '')}\\p{L}?`)
  return [...new Set([...forms, ...russian])].filter((name) => name.length > 2).join('|')
})
const MONTH = MONTHS.map((names, month) => `(?<m${month}>${names})`).join('|')
const BEFORE = String.raw`(?:in|im|on|am|en|em|a|au|nel|nell|el|il|le|no|i|w|в|на|во|during|since|from|за) `
/** "3 May 2026", "May 3 2026", "3. Mai", "in May" */
const NAMED_MONTH = new RegExp(
  `(?<![\\p{L}\\p{M}\\p{N}])(?:${BEFORE})?(?:(?:the )?(?<day>\\d{1,2})(?:st|nd|rd|th|er)? (?:of |de )?)?(?:${MONTH})(?: (?<after>\\d{1,2})(?:st|nd|rd|th)?(?!\\d))?(?: (?:de |of )?(?<year>\\d{4}))?(?![\\p{L}\\p{M}\\p{N}])`,
  'u',
)
/** 2026-05-03, which has lost its hyphens; 3.5.2026; 2026年5月3日; "in 2025" */
const NUMBERED: readonly RegExp[] = [
  /(?<!\d)(?<year>\d{4})\s?[年년]\s?(?:(?<month>\d{1,2})\s?[月월]\s?(?:(?<day>\d{1,2})\s?[日일号])?)?/u,
  /(?<!\d)(?<month>\d{1,2})\s?[月월]\s?(?:(?<day>\d{1,2})\s?[日일号])?/u,
  /(?<!\p{N})(?:(?:on|am|le|el|il|den|op|в) )?(?<year>\d{4}) (?<month>\d{2}) (?<day>\d{2})(?!\p{N})/u,
  /(?<!\p{N})(?:(?:on|am|le|el|il|den|op) )?(?<day>\d{1,2}) (?<month>\d{1,2}) (?<year>\d{4})(?!\p{N})/u,
  /(?<!\p{N})(?:(?:in|im jahr|im|en|em|nel|i|w|в|during|since) )?(?<year>(?:19|20)\d{2})(?: (?:году|года|roku))?(?!\p{N})/u,
]

/** "in the last 7 days" */
const LAST_DAYS =
  /(?<![\p{L}\p{N}])(?:in |within |during )?(?:the |den |les |los |las |gli |nos |nas |de )?(?:last|past|letzten|vergangenen|últim[oa]s|ultimi|ultime|últim[oa]s|laatste|afgelopen|последние|за последние|senaste|siste|sidste|derniers|dernières|ostatnich|son)? ?(?<count>\d{1,3}) (?:derniers |dernières )?(?:(?<days>days|tagen?|jours|días|giorni|dias|dagen|дн\p{L}+|dagar|dager|dage|dni|gün)|(?<weeks>weeks|wochen|semaines|semanas|settimane|weken|недел\p{L}+|veckor|uker|uger|tygodni|hafta)|(?<months>months|monaten?|mois|meses|mesi|maanden|месяц\p{L}+|månader|måneder|miesięcy|ay))(?![\p{L}\p{N}])|(?:過去|最近|ここ|지난|최근) ?(?<count2>\d{1,3}) ?(?:(?<days2>日間?|天|일)|(?<weeks2>週間?|周|주)|(?<months2>か月|ヶ月|个月|개월))/u

interface Taken {
  readonly span: DaySpan | undefined
  readonly rest: string
}

/** The year in which a month without one is past or current. */
const lastYearOf = (month: number, now: Date) => now.getFullYear() - (month > now.getMonth() ? 1 : 0)

function spanOf(
  now: Date,
  given: { year: number | undefined; month: number | undefined; day: number | undefined },
): DaySpan | undefined {
  const { month, day } = given
  const year = given.year ?? (month === undefined ? undefined : lastYearOf(month, now))
  if (year === undefined) return undefined
  if (month === undefined) return { from: new Date(year, 0, 1), to: new Date(year + 1, 0, 1) }
  if (month > 11 || (day ?? 1) > 31) return undefined
  if (day === undefined) return { from: new Date(year, month, 1), to: new Date(year, month + 1, 1) }
  return { from: new Date(year, month, day), to: new Date(year, month, day + 1) }
}

const numberOf = (digits: string | undefined) => (digits === undefined ? undefined : Number(digits))

/** @param text lower case, without punctuation */
export function takeSpan(text: string, now: Date): Taken {
  for (const [pattern, span] of NAMED_SPANS) {
    const rest = text.replaceAll(pattern, ' ')
    if (rest !== text) return { span: span(now), rest }
  }
  const recent = LAST_DAYS.exec(text)
  if (recent) {
    const { count, count2, weeks, weeks2, months, months2 } = recent.groups ?? {}
    const days = Number(count ?? count2) * (weeks || weeks2 ? 7 : months || months2 ? 30 : 1)
    return { span: { from: startOfDay(now, -days), to: startOfDay(now, 1) }, rest: text.replace(recent[0], ' ') }
  }
  const named = NAMED_MONTH.exec(text)
  if (named) {
    const { day, after, year } = named.groups ?? {}
    const month = MONTHS.findIndex((_, index) => named.groups?.[`m${index}`] !== undefined)
    return {
      span: spanOf(now, { year: numberOf(year), month, day: numberOf(day ?? after) }),
      rest: text.replace(named[0], ' '),
    }
  }
  for (const pattern of NUMBERED) {
    const found = pattern.exec(text)
    if (!found) continue
    const { year, month, day } = found.groups ?? {}
    const given = {
      year: numberOf(year),
      month: month === undefined ? undefined : Number(month) - 1,
      day: numberOf(day),
    }
    return { span: spanOf(now, given), rest: text.replace(found[0], ' ') }
  }
  return { span: undefined, rest: text }
}
