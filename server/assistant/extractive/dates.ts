const DATE_QUESTION =
  /(?<!\p{L})(?:dates?|daten|datumsangaben|termine|fechas|datas|datums|datoer|datoene|daty|даты)(?!\p{L})|日期|日付|날짜|التواريخ/iu

/** @param kind what is requested, without the words that ask for all of it. */
export const asksForDates = (kind: string): boolean => DATE_QUESTION.test(kind)

const MONTHS = `
january february march april may june july august september october november december
jan feb mar apr jun jul aug sept sep oct nov dec okt dez
januar jänner februar märz mai juni juli oktober dezember januari februari maart mei augustus marts maj augusti desember
janvier février mars avril juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
января февраля марта апреля мая июня июля августа сентября октября ноября декабря`
const MONTH = `(?:${MONTHS.trim().split(/\s+/).join('|')})\\.?`
const DAY = String.raw`\d{1,2}(?:st|nd|rd|th|\.|º|er)?`
const DATE = new RegExp(
  [
    String.raw`(?<![\d.])\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)`,
    String.raw`(?<![\d.])\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?![\d.])`,
    String.raw`(?<!\d)${DAY}\s(?:of\s|de\s)?${MONTH}(?!\p{L})`,
    String.raw`(?<!\p{L})${MONTH}\s\d{1,2}(?:st|nd|rd|th)?(?!\d)`,
    String.raw`(?<!\p{L})${MONTH},?\s(?:de\s|del\s)?(?:1[89]|20)\d\d(?!\d)`,
    String.raw`\d{1,2}月\d{1,2}日|\d{4}年|\d{1,2}월 ?\d{1,2}일`,
  ].join('|'),
  'iu',
)

export const containsDate = (text: string): boolean => DATE.test(text)
