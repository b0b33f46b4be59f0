import { expect, test } from 'vitest'
import { wordsOf } from './tokenizer.ts'

const termsOf = (text: string, kind: string) => wordsOf(text).filter((word) => word.startsWith(`${kind}:`))

test.each([
  ['22 85 50 50', '+47 22 85 50 50', '22855050', '004722855050', '+47 2285-5050', '(22) 85 50 50', '22.85.50.50'],
  ['01 42 68 53 00', '+33 1 42 68 53 00', '0033142685300', '+33 (0)1 42 68 53 00', '01-42-68-53-00', '01/42685300'],
  ['5550108899', '555-010-8899', '(555) 010-8899', '+1 555 010 8899', '1-555-010-8899', '555.010.8899', '010-8899'],
  ['030/1234567', '+49 30 1234567', '(030) 123 45 67', '030 – 1234567', '０３０ １２３４５６７', 'Tel:0301234567'],
])('one telephone number: %s', (...written) => {
  for (const number of written)
    expect(termsOf(`Call us on ${number}, after six.`, 'phone'), number).toEqual(termsOf(written[0], 'phone'))
  expect(termsOf(written[0], 'phone')).toHaveLength(1)
})

test.each([
  '1 000 000',
  '12.345.678',
  '2019-2020',
  '01/04/2026',
  '3.14159265',
  '1,250,500',
  'EN50128450',
  '123456',
  '2024-01-31 12:30',
  '3/4/2024 5',
  '10.111.12.13',
])('no telephone number: %s', (written) => expect(termsOf(`It says ${written} there.`, 'phone')).toEqual([]))

test.each([
  '1er avril 2026',
  '1 April 2026',
  '1st of April, 2026',
  'April 1, 2026',
  'Apr. 1st 2026',
  '1. April 2026',
  '1 de abril de 2026',
  '1º de abril de 2026',
  '1 aprile 2026',
  '1 kwietnia 2026',
  '1 апреля 2026 г.',
  '1 Nisan 2026',
  '2026. április 1.',
  '2026-04-01',
  '2026-04-01T09:00',
  '2026/4/1',
  '01.04.2026',
  '1/4/2026',
  '01/04/26',
  '2026年4月1日',
  '二〇二六年四月一日',
  '令和八年四月一日',
  '令和8年4月1日',
  '2026년 4월 1일',
  '２０２６年４月１日',
])('the first of April: %s', (written) => {
  expect(termsOf(`Es beginnt am ${written} in Tarn.`, 'date')).toContain('date:2026-04-01')
})

test.each([
  ['明治二十九年六月十五日', 'date:1896-06-15'],
  ['大正12年9月1日', 'date:1923-09-01'],
  ['昭和八年三月三日', 'date:1933-03-03'],
  ['平成元年一月八日', 'date:1989-01-08'],
])('a date of a Japanese era: %s', (written, term) => expect(termsOf(written, 'date')).toEqual([term]))

test('a name of two months is either of them', () => {
  expect(termsOf('5. listopada 2024.', 'date').toSorted()).toEqual(['date:2024-10-05', 'date:2024-11-05'])
})

test('a date whose order is not told may be either, and impossible dates are none', () => {
  expect(termsOf('01/04/2026', 'date')).toEqual(['date:2026-04-01', 'date:2026-01-04'])
  expect(termsOf('13/04/2026', 'date')).toEqual(['date:2026-04-13'])
  expect(termsOf('version 1.2.26, 45/77/2026, April 2026, 10 April, 10.11.12.13', 'date')).toEqual([])
})

test.each([
  '18:30',
  '6:30 pm',
  '6.30 p.m.',
  '6:30PM',
  '18h30',
  '18 h 30',
  '18.30 Uhr',
  '18 Uhr 30',
  '18 heures 30',
  '18:30:00',
  '6:30:00 PM',
  '午後6時30分',
  '18時30分',
  '午後六時三十分',
  '十八時三十分',
  '下午6点30分',
  '오후 6시 30분',
])('half past six in the evening: %s', (written) => {
  expect(termsOf(`It opens at ${written} on weekdays.`, 'time')).toContain('time:18:30')
})

test.each(['6 pm', '18 Uhr', '18h', '18:00', '午後6時'])('six in the evening: %s', (written) =>
  expect(termsOf(`It opens at ${written}.`, 'time')).toContain('time:18:00'),
)

test('midnight, noon, an hour without its half of the day, and no times', () => {
  expect(termsOf('12 am', 'time')).toEqual(['time:00:00'])
  expect(termsOf('12:15 pm', 'time')).toEqual(['time:12:15'])
  expect(termsOf('at 6:30', 'time')).toEqual(['time:06:30', 'time:18:30'])
  expect(termsOf('at 06:30', 'time')).toEqual(['time:06:30'])
  expect(termsOf('a ratio of 25:70, 3 amps, 4 hills, 1:2:3:4, 99点, 100点, 24時', 'time')).toEqual([])
})
