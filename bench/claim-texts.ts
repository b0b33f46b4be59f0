/** Own texts with facts of many kinds, whose forms in right and wrong sentences `planted-claims.ts` makes. */

export type Fact =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'percent'; readonly value: number }
  | { readonly kind: 'money'; readonly value: number; readonly currency: string }
  | { readonly kind: 'unit'; readonly value: number; readonly unit: string }
  | { readonly kind: 'duration'; readonly value: number; readonly unit: 'day' | 'week' | 'month' | 'year' }
  | { readonly kind: 'date'; readonly value: string }
  | { readonly kind: 'year'; readonly value: number }
  | { readonly kind: 'time'; readonly value: string }
  | { readonly kind: 'name'; readonly value: string; readonly others: readonly string[] }
  | { readonly kind: 'code'; readonly value: string; readonly other: string }

export interface ClaimText {
  readonly language: string
  /** Facts are named in braces, and written as the language does. */
  readonly sentences: readonly (readonly [frame: string, facts: Readonly<Record<string, Fact>>])[]
}

const number = (value: number): Fact => ({ kind: 'number', value })
const percent = (value: number): Fact => ({ kind: 'percent', value })
const money = (value: number, currency: string): Fact => ({ kind: 'money', value, currency })
const unit = (value: number, name: string): Fact => ({ kind: 'unit', value, unit: name })
const duration = (value: number, name: 'day' | 'week' | 'month' | 'year'): Fact => ({
  kind: 'duration',
  value,
  unit: name,
})
const date = (value: string): Fact => ({ kind: 'date', value })
const year = (value: number): Fact => ({ kind: 'year', value })
const time = (value: string): Fact => ({ kind: 'time', value })
const name = (value: string, ...others: string[]): Fact => ({ kind: 'name', value, others })
const code = (value: string, other: string): Fact => ({ kind: 'code', value, other })

export const CLAIM_TEXTS: readonly ClaimText[] = [
  {
    language: 'en',
    sentences: [
      ['The tenant may end the lease with a notice of {a}, and the deposit is {b}.', { a: duration(3, 'month'), b: money(2_450, 'EUR') }],
      ['The contract was signed on {a} by {b} for the northern branch.', { a: date('2024-05-03'), b: name('Angela Whitmore', 'Thomas Kerrigan', 'Priya Raman') }],
      ['Revenue reached {a} in {b}, an increase of {c} over the year before.', { a: money(1_250_000, 'USD'), b: year(2023), c: percent(11.9) }],
      ['The office opens at {a} and employs {b} people.', { a: time('08:30'), b: number(4_823) }],
      ['The line is {a} long and was built by {b} after the flood.', { a: unit(84.5, 'kilometer'), b: name('Northwind Engineering', 'Halvorsen Rail', 'Castleford Partners') }],
      ['The device follows standard {a} and weighs {b}.', { a: code('EN-50128', 'EN-50182'), b: unit(37, 'kilogram') }],
    ],
  },
  {
    language: 'de',
    sentences: [
      ['Die Kündigungsfrist beträgt {a}, die Kaution {b}.', { a: duration(4, 'month'), b: money(1_860, 'EUR') }],
      ['Der Vertrag wurde am {a} von Herrn {b} unterzeichnet.', { a: date('2021-11-17'), b: name('Reinhard Vogler', 'Matthias Brunner', 'Ulrich Stein') }],
      ['Der Umsatz stieg im Jahr {b} um {c} auf {a}.', { a: money(34_600_000, 'EUR'), b: year(2019), c: percent(7.4) }],
      ['Die Halle ist {a} lang und öffnet um {b}.', { a: unit(125, 'meter'), b: time('07:45') }],
      ['Im Werk arbeiten {a} Menschen nach der Norm {b}.', { a: number(12_738), b: code('DIN-18202', 'DIN-18020') }],
    ],
  },
  {
    language: 'fr',
    sentences: [
      ['Le préavis est de {a} et la caution de {b}.', { a: duration(2, 'month'), b: money(1_375, 'EUR') }],
      ['Le contrat a été signé le {a} par {b} à la mairie.', { a: date('2020-02-14'), b: name('Camille Lefèvre', 'Antoine Garnier', 'Margaux Delorme') }],
      ["Le chiffre d'affaires a atteint {a} en {b}, soit une hausse de {c}.", { a: money(8_700_000, 'EUR'), b: year(2018), c: percent(4.6) }],
      ['Le site compte {a} salariés et ouvre à {b}.', { a: number(3_917), b: time('09:15') }],
    ],
  },
  {
    language: 'es',
    sentences: [
      ['El plazo de preaviso es de {a} y la fianza de {b}.', { a: duration(6, 'month'), b: money(3_280, 'EUR') }],
      ['El acuerdo fue firmado el {a} por {b} en la sede.', { a: date('2022-09-28'), b: name('Lucía Herrero', 'Esteban Quiroga', 'Marta Olmedo') }],
      ['Las ventas llegaron a {a} en {b}, con un crecimiento del {c}.', { a: money(52_300_000, 'EUR'), b: year(2017), c: percent(13.2) }],
      ['La planta mide {a} y emplea a {b} personas.', { a: unit(640, 'meter'), b: number(7_412) }],
    ],
  },
  {
    language: 'it',
    sentences: [
      ['Il preavviso è di {a} e il deposito di {b}.', { a: duration(5, 'month'), b: money(2_940, 'EUR') }],
      ['Il contratto fu firmato il {a} da {b} a nome della ditta.', { a: date('2016-07-09'), b: name('Chiara Bonetti', 'Davide Morandi', 'Elena Fabbri') }],
      ['I ricavi sono saliti a {a} nel {b}, con un aumento del {c}.', { a: money(19_400_000, 'EUR'), b: year(2022), c: percent(8.3) }],
    ],
  },
  {
    language: 'pt',
    sentences: [
      ['O prazo de aviso é de {a} e a caução de {b}.', { a: duration(90, 'day'), b: money(4_150, 'EUR') }],
      ['O contrato foi assinado em {a} por {b} na sede.', { a: date('2019-03-21'), b: name('Rafael Teixeira', 'Beatriz Nogueira', 'Hugo Sampaio') }],
      ['As receitas chegaram a {a} em {b}, um aumento de {c}.', { a: money(6_800_000, 'EUR'), b: year(2021), c: percent(9.7) }],
    ],
  },
  {
    language: 'nl',
    sentences: [
      ['De opzegtermijn is {a} en de borg {b}.', { a: duration(8, 'week'), b: money(1_725, 'EUR') }],
      ['Het contract is op {a} getekend door {b} namens het bedrijf.', { a: date('2023-01-30'), b: name('Joris Hendrickx', 'Femke Verbruggen', 'Sander Boersma') }],
      ['De omzet steeg in {b} met {c} naar {a}.', { a: money(27_900_000, 'EUR'), b: year(2020), c: percent(5.8) }],
    ],
  },
  {
    language: 'pl',
    sentences: [
      ['Okres wypowiedzenia wynosi {a}, a kaucja {b}.', { a: duration(3, 'month'), b: money(5_620, 'PLN') }],
      ['Umowę podpisał {a} dyrektor {b} w imieniu spółki.', { a: date('2022-06-18'), b: name('Tomasz Zieliński', 'Marek Kowalczyk', 'Paweł Wrona') }],
      ['Przychody w roku {b} wzrosły o {c} do {a}.', { a: money(73_500_000, 'PLN'), b: year(2023), c: percent(6.1) }],
    ],
  },
  {
    language: 'ru',
    sentences: [
      ['Срок уведомления составляет {a}, залог составляет {b}.', { a: duration(2, 'month'), b: money(48_500, 'RUB') }],
      ['Договор подписан {a}, от компании его подписал {b} лично.', { a: date('2021-04-12'), b: name('Сергей Воронцов', 'Дмитрий Лебедев', 'Анна Соколова') }],
      ['Выручка в {b} году выросла на {c} и достигла {a}.', { a: money(96_400_000, 'RUB'), b: year(2019), c: percent(14.3) }],
    ],
  },
  {
    language: 'zh',
    sentences: [
      ['通知期为{a}，押金为{b}。', { a: duration(3, 'month'), b: money(8_600, 'CNY') }],
      ['合同于{a}签订，工厂有{b}名员工。', { a: date('2023-08-25'), b: number(6_248) }],
      ['{b}年收入达到{a}，增长{c}。', { a: money(47_000_000, 'CNY'), b: year(2022), c: percent(12.7) }],
    ],
  },
  {
    language: 'ja',
    sentences: [
      ['解約の予告期間は{a}、敷金は{b}である。', { a: duration(2, 'month'), b: money(184_000, 'JPY') }],
      ['契約は{a}に締結され、従業員は{b}人である。', { a: date('2020-10-05'), b: number(2_356) }],
      ['{b}年の売上高は{a}で、{c}増加した。', { a: money(630_000_000, 'JPY'), b: year(2021), c: percent(3.8) }],
    ],
  },
  {
    language: 'ko',
    sentences: [
      ['해지 통지 기간은 {a}이고 보증금은 {b}이다.', { a: duration(3, 'month'), b: money(5_400_000, 'KRW') }],
      ['계약은 {a}에 체결되었고 직원은 {b}명이다.', { a: date('2022-12-08'), b: number(1_574) }],
    ],
  },
  {
    language: 'ar',
    sentences: [
      ['مدة الإشعار {a} والتأمين {b}.', { a: duration(6, 'month'), b: money(3_700, 'USD') }],
      ['تم توقيع العقد في {a} ويعمل في الشركة {b} موظفا.', { a: date('2021-05-19'), b: number(2_863) }],
    ],
  },
] // prettier-ignore
