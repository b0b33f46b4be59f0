import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { PageBlock } from '#contract/document.ts'
import { isPassageSource } from '#contract/source.ts'
import type { PassageRange } from '#server/search/text/passages.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import type { AnswerKind } from './answer-kind.ts'
import { chooseQuotes } from './choose-quotes.ts'
import { asPlainMarkdown, writeExtractiveAnswer, type ExtractiveAnswerInput } from './extractive-answer.ts'
import { joinLines } from './join-lines.ts'
import { FOREIGN_REASON } from './judge-answer.ts'
import { sentencesOf } from './sentences.ts'

const PAGE = `The gap is especially large when k is
small (e.g., 78.4% vs. 59.1% for top-20 accuracy). Dr. A. Lee dis-
agrees. Results follow.

A new paragraph about lamps`

function reading(question: string, pages: readonly string[], blocks?: readonly PageBlock[], own?: PassageRange) {
  const sentences = pages.flatMap((pageText, index) => {
    const source = {
      n: 1,
      documentId: randomUUID(),
      filename: 'a.pdf',
      page: index + 1,
      start: 0,
      end: pageText.length,
      text: pageText,
      score: 10 - index,
    }
    return sentencesOf(source, { text: pageText, ...(blocks ? { blocks } : {}), ...(own ? { body: own } : {}) }, source)
  })
  const words = sentences.flatMap(({ words, headingWords }) => [...words, ...headingWords])
  const stems = new Map(words.map((word) => [word, [word]]))
  return { questionParts: [wordsOf(question).map((word) => [word])], wantsNumber: false, sentences, stems }
}

test('quotes the sentence that answers, with its exact range', () => {
  const [first] = chooseQuotes(reading('top-20 accuracy gap', [PAGE])).filter(isPassageSource)
  expect(first?.text).toBe(PAGE.slice(first?.start, first?.end))
  expect(first?.text).toContain('59.1% for top-20 accuracy')
})

test('quotes the text below a heading, never the heading itself', () => {
  const page = 'Notice period\nThree months to the end of a quarter. It is given in writing.\nDeposit\nTwo rents.'
  const paragraph = page.indexOf('Three')
  const deposit = page.indexOf('Deposit')
  const blocks: PageBlock[] = [
    { kind: 'heading', start: 0, end: paragraph - 1 },
    { kind: 'paragraph', start: paragraph, end: deposit - 1 },
    { kind: 'heading', start: deposit, end: deposit + 7 },
    { kind: 'paragraph', start: deposit + 8, end: page.length },
  ]
  const quotes = (question: string) => chooseQuotes(reading(question, [page], blocks)).map(({ text }) => text)
  expect(quotes('notice period')).toEqual(['Three months to the end of a quarter. It is given in writing.'])
  expect(quotes('deposit')).toEqual(['Two rents.'])
})

test('quotes a row of a table by itself, and knows its columns', () => {
  const page = 'Flat | Rent\nNorth | 800\nSouth | 900'
  const blocks: PageBlock[] = [{ kind: 'table', start: 0, end: page.length, headerEnd: 11 }]
  expect(chooseQuotes(reading('rent of flat south', [page], blocks)).map(({ text }) => text)).toEqual(['South | 900'])
})

test('numbers rows of one table in display order, with a score for each quote', () => {
  const tar = ['East', 'West', 'Quay', 'Pier', 'Hill', 'Town'].map((lamp) => `${lamp} | tar`)
  const page = ['Lamp | Fuel', 'North | whale oil fat', 'South | seal wick', ...tar].join('\n')
  const blocks: PageBlock[] = [{ kind: 'table', start: 0, end: page.length, headerEnd: 11 }]
  const { sentences, ...rest } = reading('whale oil fat seal wick', [page], blocks)
  const prose = reading('', ['Oil and fat of seals are dear, seal skin is not.']).sentences
  const stems = new Map([...sentences, ...prose].flatMap(({ words }) => words.map((word) => [word, [word]] as const)))
  const quotes = chooseQuotes({ ...rest, stems, sentences: [...sentences, ...prose] })
  expect(quotes.map(({ n }) => n)).toEqual([1, 2, 3])
  const titled = quotes.map((quote) => isPassageSource(quote) && quote.titles !== undefined)
  expect(titled.lastIndexOf(true) - titled.indexOf(true)).toBe(1)
  expect(new Set(quotes.map(({ score }) => score)).size).toBe(3)
})

test('quotes no row except the requested one', () => {
  const page = 'Zone | Price\nZone 1 | 20\nZone 2 | 30\nZone 3 | 40'
  const blocks: PageBlock[] = [{ kind: 'table', start: 0, end: page.length, headerEnd: 12 }]
  const rows = (question: string) => chooseQuotes(reading(question, [page], blocks)).map(({ text }) => text)
  expect(rows('price of zone 2')).toEqual(['Zone 2 | 30'])
  expect(rows('price of zone 1 and zone 3').toSorted()).toEqual(['Zone 1 | 20', 'Zone 3 | 40'])
})

test('quotes a list of contents only where nothing else has the words', () => {
  const page = 'Lamps 9 Whale oil and lamps 15 Winter 21\n\nWhale oil was burnt in all lamps until 1860.'
  const quotes = (question: string) => chooseQuotes(reading(question, [page])).map(({ text }) => text)
  expect(quotes('whale oil lamps')[0]).toBe('Whale oil was burnt in all lamps until 1860.')
  expect(quotes('winter')[0]).toContain('Winter 21')
})

test('quotes running titles only where nothing else has the words', () => {
  const page = 'The lamp of the north\n\nThe lamp was lit in May.'
  const own = { start: 21, end: page.length }
  const quotes = (question: string) => chooseQuotes(reading(question, [page], undefined, own)).map(({ text }) => text)
  expect(quotes('lamp of the north')).toEqual(['The lamp was lit in May.'])
  expect(quotes('north')[0]).toContain('The lamp of the north')
})

test('quotes a step of a numbered list as text, the first like the others', async () => {
  const page =
    '1. \tClick Setup.\n2. \tFor Protocol, click Edit, and then type the name of the server and the password of the account.'
  const blocks: PageBlock[] = [{ kind: 'table', start: 0, end: page.length, headerEnd: 16 }]
  const quotes = (question: string) => chooseQuotes(reading(question, [page], blocks))
  expect(await written({ quotes: quotes('edit protocol') })).toContain(
    String.raw`> - 2\. For Protocol, click Edit, and`,
  )
  expect(quotes('click setup')[0]?.text).toContain('1. \tClick Setup.')
})

test('quotes the same words once, however many pages have them', () => {
  const page = 'The warden keeps the lamp. Nobody else does.'
  expect(chooseQuotes(reading('warden lamp', [page, page])).map(({ text }) => text)).toEqual([page])
})

test('a table of nothing but column titles can still be quoted', () => {
  const blocks: PageBlock[] = [{ kind: 'table', start: 0, end: 11, headerEnd: 11 }]
  expect(chooseQuotes(reading('flat rent', ['Flat | Rent'], blocks)).map(({ text }) => text)).toEqual(['Flat | Rent'])
})

test('a page of nothing but a heading can still be quoted', () => {
  const blocks: PageBlock[] = [{ kind: 'heading', start: 0, end: 13 }]
  expect(chooseQuotes(reading('notice period', ['Notice period'], blocks)).map(({ text }) => text)).toEqual([
    'Notice period',
  ])
})

test('quotes nothing where the passages share too little with the question', () => {
  expect(chooseQuotes(reading('vitamin content of broccoli', [PAGE]))).toEqual([])
  expect(chooseQuotes(reading('anything', []))).toEqual([])
})

test('treats two of six words as a match, and one of three as chance', () => {
  expect(chooseQuotes(reading('accuracy gap four other strange things', [PAGE]))).toHaveLength(1)
  expect(chooseQuotes(reading('accuracy vitamin broccoli', [PAGE]))).toEqual([])
})

test('prefers text that says more than the question', () => {
  const pages = ['Lamp of warden 1.', 'The lamp is lit by the warden at four.']
  expect(chooseQuotes(reading('lamp of warden', pages))[0]?.text).toContain('at four')
})

test('prefers a sentence with a number where one is asked for', () => {
  const page =
    'The lamp of the hall is trimmed by the warden of the hall.\n\nThe hall has 12 lamps in all of its rooms.'
  const read = reading('lamp hall warden', [page])
  const firstOf = (wantsNumber: boolean) => chooseQuotes({ ...read, wantsNumber })[0]?.text
  expect(firstOf(false)).toContain('trimmed by the warden')
  expect(firstOf(true)).toContain('12 lamps')
})

test('quotes the sentence with the kind of answer asked for, and the one before it that says of what', () => {
  const page =
    'The storm of the north broke the lamps of the hall.\n\n' +
    'The damage of the storm was counted by the warden of the hall and by the keepers of all of the lamps on the northern shore, who met for it in the spring of the year after. ' +
    'It is put at $100 in the prices of that year, most of it for oil and glass. The oil was paid for first.'
  const quotes = (answerKind?: AnswerKind) => chooseQuotes({ ...reading('damage of the storm', [page]), answerKind })
  expect(quotes('amount')[0]?.text).toMatch(/^The damage of the storm .* It is put at \$100/)
})

test('quotes a sentence with its paragraph', () => {
  const filler = 'Oil and glass are stored below, in the dry half of the cellar.'
  const page = `The wall is old.\n\nThe gate is green. The warden of the gate lives above. ${filler} He opens it at four.\n\nThe road is new. ${`${filler} `.repeat(12)}`
  const [quote] = chooseQuotes(reading('warden', [page]))
  expect(quote?.text).toMatch(/^The gate is green\. .* He opens it at four\.$/)
  expect(quote?.text.length).toBeLessThanOrEqual(700)
})

test('quotations of one page share none of its text', () => {
  const page = 'The warden has a lamp. It is lit at four.\n\nThe road is new.\n\nThe warden trims a lamp of the gate.'
  const { sentences, ...rest } = reading('warden lamp gate', [page])
  const apart = sentences.map((sentence, index) => ({ ...sentence, isAtEdge: index === 2 }))
  const quotes = chooseQuotes({ ...rest, sentences: apart }).filter(isPassageSource)
  const ordered = quotes.toSorted((one, other) => one.start - other.start)
  expect(ordered.length).toBeGreaterThan(1)
  for (const [index, { end }] of ordered.slice(0, -1).entries())
    expect(end).toBeLessThanOrEqual(ordered[index + 1]?.start ?? 0)
})

test('a word that the file name has tells no row of it from another', () => {
  const page = 'Unit | Rent\nHarbour Office | 700\nHarbour Hall | 800\nUpper Floor | 900'
  const blocks: PageBlock[] = [{ kind: 'table', start: 0, end: page.length, headerEnd: 11 }]
  const { sentences, stems, ...rest } = reading('harbour rent of the upper floor', [page], blocks)
  const named = sentences.map((sentence) => ({ ...sentence, source: { ...sentence.source, filename: 'harbour.xlsx' } }))
  expect(chooseQuotes({ ...rest, stems, sentences: named })[0]?.text).toBe('Upper Floor | 900')
})

test('shows a quoted list item by item', async () => {
  const page = 'To open the gate you need:\n• a *key*\n• a lamp\n\nThe wall is old.'
  const quotes = chooseQuotes(reading('open gate need', [page]))
  expect(await written({ quotes })).toContain('> To open the gate you need: [1]\n>\n> - a \\*key\\*\n> - a lamp')
})

test('counts the words of a question, however many ways there are to stem each', () => {
  const read = reading('accuracy gap seven other things', [PAGE])
  const stemmed = (word: string, ways: number) => [
    word,
    ...Array.from({ length: ways - 1 }, (_, way) => `${word}${way}`),
  ]
  const quotes = (ways: number) =>
    chooseQuotes({
      ...read,
      questionParts: read.questionParts.map((part) => part.map(([word = '']) => stemmed(word, ways))),
    })
  expect(quotes(1)).toHaveLength(1)
  expect(quotes(4)).toEqual(quotes(1))
})

test('answers a question in two languages if one half is covered', () => {
  const { questionParts, ...read } = reading('accuracy gap', [PAGE])
  const otherHalf = 'unterschied in prozent bei kleinem wert'.split(' ').map((word) => [word])
  expect(chooseQuotes({ ...read, questionParts: [[...questionParts.flat(), ...otherHalf]] })).toEqual([])
  expect(chooseQuotes({ ...read, questionParts: [otherHalf, ...questionParts] })).toHaveLength(1)
})

async function written(given: Partial<ExtractiveAnswerInput>): Promise<string> {
  let text = ''
  const nothing = {
    quotes: [],
    refusal: undefined,
    isEmptyLibrary: false,
    missingDocumentNotes: [],
    isDocumentUnnamed: false,
    isSummary: false,
    hasParts: false,
    sections: [],
    hasModels: false,
  }
  for (const part of writeExtractiveAnswer({ ...nothing, ...given })) if (part.type === 'text') text += part.text
  return text
}

test('joins hyphenated words, and shows Markdown signs literally', async () => {
  const [quote] = chooseQuotes(reading('agrees Lee', [PAGE]))
  if (!quote) throw new Error('nothing was quoted')
  expect(await written({ quotes: [quote] })).toMatch(/^> The gap .* Dr\. A\. Lee disagrees\. Results follow\./)
  expect(await written({ quotes: [{ ...quote, text: 'a * b [1]' }] })).toContain(String.raw`> a \* b \[1\] [1]`)
})

test('shows rows of one table below their titles, each with its marker', async () => {
  const page = 'Flat | Rent\nNorth | 800\nSouth | 900\nWest | *\nAll of them are let.'
  const blocks: PageBlock[] = [{ kind: 'table', start: 0, end: page.length, headerEnd: 11 }]
  const quotes = chooseQuotes(reading('rent north south', [page], blocks))
  expect(quotes.map(({ text }) => text)).toEqual(['North | 800', 'South | 900'])
  expect(await written({ quotes })).toContain(
    '| Flat | Rent |\n| --- | --- |\n| North [1] | 800 |\n| South [2] | 900 |\n\n',
  )
  const [starred] = chooseQuotes(reading('west', [page], blocks))
  if (!starred) throw new Error('nothing was quoted')
  expect(await written({ quotes: [starred] })).toContain(String.raw`| West [1] | \* |`)
  expect(await written({ quotes: chooseQuotes(reading('let', [page], blocks)) })).toContain(
    '> All of them are let. [1]',
  )
})

test.each([
  ['policies', '3) All policies are required.', String.raw`3\) All policies are required.`],
  ['rent', '12. The rent is due.', String.raw`12\. The rent is due.`],
  ['dogs', '- Dogs are allowed.', String.raw`\- Dogs are allowed.`],
])('quotes a point of a list about %s with its sign, which makes no other list', async (asked, page, shown) => {
  expect(await written({ quotes: chooseQuotes(reading(asked, [page])) })).toContain(`> ${shown} [1]`)
})

test.each([
  ['See <http://a.test/get_it>.', String.raw`See \<<http://a.test/get_it>\>.`],
  ['It (https://a.test/a_(b)) is *new*.', String.raw`It (<https://a.test/a_(b)>) is \*new\*.`],
  ['Siehe https://a.test/ä~b#c。', 'Siehe <https://a.test/ä~b#c>。'],
  ['<www.a.test/a_b>', String.raw`\<[www.a.test/a\_b](<http://www.a.test/a_b>)\>`],
  ['Write to a_b@c.test.', 'Write to <a_b@c.test>.'],
])('quotes %s so that the address in it is a link to exactly itself', (text, shown) => {
  expect(asPlainMarkdown(text)).toBe(shown)
})

test('names the origin of quotes only where quotes were found', async () => {
  const failure = { text: 'No search engine is configured.', isFound: false }
  expect(await written({ sections: [failure] })).toBe(failure.text)
  expect(await written({ sections: [failure, { text: '> A word. [1]', isFound: true }] })).toContain(
    'these are the words of what was found',
  )
})

test('describes quotes that summarise a whole document', async () => {
  const quotes = chooseQuotes(reading('lamp', ['The lamp stands on the hill above the town.']))
  expect(await written({ quotes, isSummary: true })).toContain('not a summary of my own')
  expect(await written({ quotes, isSummary: true, hasModels: true })).toContain(
    'The Reader only quotes: these are parts',
  )
  expect(await written({ quotes })).toContain('these are the words of your documents, not an answer of my own')
})

test('says that nothing was found', async () => {
  expect(await written({})).toBe('I found nothing in your documents that answers this.')
  expect(await written({ missingDocumentNotes: ['There is no document named “a_b.pdf”.'] })).toBe(
    'There is no document named “a\\_b.pdf”.\n\nI found nothing in your documents that answers this.',
  )
  expect(await written({ isEmptyLibrary: true })).toMatch(/^You have no documents yet\./)
  expect(await written({ isDocumentUnnamed: true })).toBe(
    'This asks about a whole document. Name the one that you mean, and ask again.',
  )
})

test('says that no model is configured only if none is', async () => {
  const quotes = chooseQuotes(reading('agrees Lee', [PAGE]))
  expect(await written({ quotes })).toContain('No language model is configured')
  expect(await written({ quotes, hasModels: true })).toContain('The Reader only quotes')
  expect(await written({ quotes, hasModels: true })).not.toContain('No language model')
})

test.each([
  [
    '家具の搬入はその後に\nお願いいたします。\n\nご質問は管理人へ。',
    '家具の搬入はその後にお願いいたします。ご質問は管理人へ。',
  ],
  ['Debian\n系統的使用者，\n請閱讀說明', 'Debian 系統的使用者，請閱讀說明'],
  ['저희 학교는\n서울에', '저희 학교는 서울에'],
])('lines of Chinese and Japanese run on: %j', (text, unwrapped) => {
  expect(joinLines(text)).toBe(unwrapped)
})

test('shows the nearest passages apart where none answers, with the reason and without calling them an answer', async () => {
  const quotes = chooseQuotes(reading('agrees Lee', [PAGE]))
  const text = await written({
    quotes,
    refusal: { reason: 'the year 2012 does not occur there', languages: ['english'] },
  })
  expect(text).toMatch(
    /^Nothing answers this; the nearest passages are:\n\n---\n\n> The gap .* Dr\. A\. Lee disagrees\./,
  )
  expect(text).toContain('the year 2012 does not occur there')
  expect(text).not.toMatch(/language model|words of your documents/)
})

test('names the languages of the documents where the question is in another one', async () => {
  const refusal = { reason: FOREIGN_REASON, languages: ['english', 'german', 'simple'] }
  expect(await written({ refusal })).toBe(
    'I found nothing in your documents that answers this.\n\nYour documents are in English and German. A language model would find in them what is asked in another language.',
  )
})

test('what is said without documents does not change where nothing answers', async () => {
  const refusal = { reason: undefined, languages: [] }
  expect(await written({ refusal, isEmptyLibrary: true })).toContain('You have no documents yet')
  expect(await written({ refusal })).toBe('I found nothing in your documents that answers this.')
})

test('a comparison names each document above what it quotes of it, where there are several', async () => {
  const quote = (n: number, filename: string, text: string) => ({
    n,
    documentId: filename,
    filename,
    page: 1,
    start: 0,
    end: text.length,
    text,
    score: 1,
  })
  const [mill, barn] = [
    quote(1, 'mill_lease.txt', 'The rent is 900 euro.'),
    quote(2, 'barn.txt', 'The rent is 80 euro.'),
  ]
  expect(await written({ quotes: [mill, barn], hasParts: true })).toContain(
    '**mill\\_lease.txt**\n\n> The rent is 900 euro. [1]\n\n**barn.txt**\n\n> The rent is 80 euro. [2]',
  )
  expect(await written({ quotes: [mill, { ...mill, n: 2 }], hasParts: true })).not.toContain('**')
  expect(await written({ quotes: [mill, barn], hasParts: false })).not.toContain('**')
})
