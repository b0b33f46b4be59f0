import { expect, test } from 'vitest'
import { detectLanguage, detectStemmer } from './detect-language.ts'
import { foldAccents, wordsOf } from './tokenizer.ts'

test.each([
  ['Words, in LOWER case.', ['words', 'in', 'lower', 'case']],
  ['GDPR-2016/679', ['gdpr', '2016', '679', 'gdpr2016679']],
  ['an e-mail', ['an', 'e', 'mail', 'email']],
  ['1,250.50 euro', ['1', '250', '50', '125050', 'euro']],
  ['The end.Next sentence', ['the', 'end', 'next', 'sentence']],
  ['infor-\nmation', ['infor', 'mation', 'information']],
  ['blue-\ngreen algae', ['blue', 'green', 'bluegreen', 'algae']],
  ['a soft\u00adhyphen', ['a', 'soft', 'hyphen', 'softhyphen']],
  ['eﬃcient ﬁle ２０', ['efficient', 'file', '20']],
  ['黑豹队', ['黑豹', '豹队']],
  ['黑豹\n队', ['黑豹', '豹队']],
  ['ｶﾀ \n ｶﾅ', ['カタ', 'タカ', 'カナ']],
  ['黑 豹', ['黑', '豹']],
  ['黑\n\n豹', ['黑', '豹']],
  ['第7条', ['第', '7', '条']],
  ['ภาษาไทย', ['ภาษา', 'ไทย']],
  ['كِتَابٌ', ['كتاب']],
  ['لغة Pythonمن وR', ['لغة', 'python', 'من', 'و', 'r']],
  ['MaxUploadSize', ['maxuploadsize', 'max', 'upload', 'size']],
  ['resolveHostAddress()', ['resolvehostaddress', 'resolve', 'host', 'address']],
  ['parseHTMLPage', ['parsehtmlpage', 'parse', 'html', 'page']],
  ['max_upload_size', ['max', 'upload', 'size', 'maxuploadsize']],
  ['mRNA of a PhD, iPhone', ['mrna', 'of', 'a', 'phd', 'iphone']],
  ['İstanbul', ['istanbul']],
  ['圖書館', ['图书', '书馆']],
  ['图书馆', ['图书', '书馆']],
  ['父は', ['父は', '父']],
  ['馬をつなぐ', ['马を', 'をつ', 'つな', 'なぐ', '马']],
  ['落ちる', ['落ち', 'ちる', '落']],
  ['一人娘', ['一人', '人娘']],
  ['三十日以内', ['三十', '十日', '日以', '以内', '30']],
  ['第三十五条', ['第三', '三十', '十五', '五条', '35']],
  ['', []],
])('splits %j', (text, words) => expect(wordsOf(text)).toEqual(words))

test.each([
  ['関孝和', '關孝和', '关孝和'],
  ['国語の学習', '國語の學習', '国语の学习'],
  ['芸術', '藝術', '艺术'],
  ['図書館', '圖書館', '图书馆'],
  ['濾過', '沪過', '滤过'],
])('Japanese, traditional and simplified characters are one: %s', (...written) => {
  for (const text of written) expect(wordsOf(text), text).toEqual(wordsOf(written[0]))
})

test('accents are folded, letters of their own are not', () => {
  expect(
    ['años', 'encyclopædia', 'ørsted', 'łódź', 'straße', 'kapı', 'ёлка', 'über', '한국', 'क़िताब'].map(foldAccents),
  ).toEqual([
    'anos',
    'encyclopaedia',
    'orsted',
    'lodz',
    'strasse',
    'kapi',
    'елка',
    'uber',
    '한국',
    'क़िताब'.normalize('NFKD').normalize('NFC'),
  ])
})

test.each([
  ['english', 'The invoices shall be submitted no later than 45 days after the performance of the work.'],
  ['german', 'Die Rechnung ist innerhalb von 30 Tagen nach dem Erhalt der Ware zu bezahlen, und zwar auf das Konto.'],
  ['french', 'Les tests ont été réalisés sur un ordinateur dans les locaux de la société, et ils sont concluants.'],
  ['spanish', 'La segregación social urbana es la expresión territorial de la falta de diversidad en los barrios.'],
  ['russian', 'Однажды, в студеную зимнюю пору, я из лесу вышел.'],
  ['arabic', 'لم يتخلى فريق بانثرز سوى عن 308 نقطة'],
  ['simple', '黑豹队的防守只丢了 308分'],
  ['simple', '12 345 678'],
])('detects %s', (language, text) => expect(detectLanguage(text)).toBe(language))

test.each([
  ['english', 'Team | Location | Stanley Cups\nBlues | STL | 1'],
  ['german', 'Die Rechnung ist innerhalb von 30 Tagen nach dem Erhalt der Ware zu bezahlen.'],
  ['simple', '黑豹队的防守只丢了 308分'],
  ['simple', '12 345 678'],
])('stems as %s', (language, text) => expect(detectStemmer(text)).toBe(language))

test('half of a character does not change how later texts are read', () => {
  const mixed = `${'\u{1d400}'.repeat(6)} lamp`
  const before = detectStemmer(mixed)
  detectStemmer('\ud835')
  expect(detectStemmer(mixed)).toBe(before)
})
