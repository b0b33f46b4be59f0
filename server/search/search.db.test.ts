import { randomUUID } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import type { QueryResultRow } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '#server/database/scope.ts'
import { deleteDocument } from '#server/documents/store/library.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { jobRun } from '#test/job-run.ts'
import { unpackBlock, unpackWords } from './index/block.ts'
import { indexDocument } from './index/index-document.ts'
import { createIndexJobs } from './index/merge-job.ts'
import { findMerges, mergeSegments } from './index/segments.ts'
import { searchDocuments, searchPassages, type SearchOptions } from './search.ts'
import type { FoundPassage } from './read-passages.ts'

type Person = Awaited<ReturnType<TestDatabase['createPerson']>>

let test_: TestDatabase
beforeAll(async () => {
  test_ = await createTestDatabase()
})
afterAll(() => test_.drop())

async function addDocument(owner: Person, filename: string, ...pages: string[]): Promise<string> {
  const id = randomUUID()
  await test_.database.asService(async (scope) => {
    await scope.query(
      `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state) values ($1, $2, $3, $3, 'text/plain', 1, $4, $4, 'ready')`,
      [id, owner.sub, filename, randomUUID()],
    )
    await scope.query(
      `insert into document_pages (document_id, owner, page, text) select $1, $2, ordinality, text from unnest($3::text[]) with ordinality as given (text, ordinality)`,
      [id, owner.sub, pages],
    )
    await indexDocument(
      scope,
      { id, owner: owner.sub, filename },
      pages.map((text, index) => ({ page: index + 1, text, headings: null })),
    )
  })
  return id
}

const search = (person: Person, question: string, options?: SearchOptions) =>
  test_.database.asUser(person, (scope) => searchPassages(scope, question, options))
const textsOf = async (person: Person, question: string) => (await search(person, question)).map(({ text }) => text)

test('finds the passage with its page and exact range', async () => {
  const person = await test_.createPerson()
  const page = '  The notice period is three months to the end of a quarter. \n'
  const id = await addDocument(person, 'lease.pdf', 'Rent is due on the first.', page)
  const [best] = await search(person, 'How long is the notice period?')
  expect(best).toMatchObject({ documentId: id, filename: 'lease.pdf', page: 2, start: 2, end: 60 })
  expect(best?.text).toBe(page.slice(2, 60))
  expect(best?.score).toBeGreaterThan(0)
})

describe('finds words, numbers and names however they are written', () => {
  const TEXTS = [
    'Call the harbour master on +47 22 85 50 50 after six.',
    'Call the chapel on +33 1 42 68 53 00 after six.',
    'Call the brewery on 5550108899 after six.',
    'Call the bakery on 5550207711 after six.',
    'La foire de Tarn a lieu le 1er avril 2026.',
    'La foire de Dole a lieu le 2 mai 2026.',
    'The ferry to Rum leaves at 18:30.',
    'The ferry to Eigg leaves at 17:45.',
    'The class HttpRetryPolicy waits nine seconds.',
    'The class HttpCachePolicy waits seven seconds.',
    'Use the setting MaxUploadSize to allow larger drawings.',
    'A smaller max download rate keeps the drawings away.',
    'The Encyclopædia of Æsop lies on shelf nine.',
    'The Dictionary of Ovid lies on shelf seven.',
    '會議室預訂由陳小姐負責，請撥分機三三七。',
    '圖書館週一閉館，電話為三三零。',
    '发票请在三十天内寄到财务处。',
    'Işıklı Köyü İlkokulu pazartesi açılır.',
  ]
  let person: Person
  beforeAll(async () => {
    person = await test_.createPerson()
    for (const [index, text] of TEXTS.entries()) await addDocument(person, `${index}.txt`, text)
  })

  test.each([
    ['Whose number is 22855050?', 0],
    ['Who answers 2285-5050?', 0],
    ['Whose number is 004722855050?', 0],
    ['Who has 01 42 68 53 00?', 1],
    ['Whose number is (555) 010-8899?', 2],
    ['Qu’est-ce qui a lieu le 01/04/2026 ?', 4],
    ['What happens on April 1, 2026?', 4],
    ['Which one leaves at 6:30 pm?', 6],
    ['Welche geht um 18 Uhr 30?', 6],
    ['How long does the http retry policy wait?', 8],
    ['Which is the max upload size?', 10],
    ['What is maxDownloadRate?', 11],
    ['Where is the encyclopaedia of Aesop?', 12],
    ['会议室预订由谁负责？', 14],
    ['图书馆什么时候闭馆？', 15],
    ['發票請寄到哪裡？', 16],
    ['ISIKLI KOYU ilkokulu ne zaman', 17],
  ])('%s', async (question, index) => {
    expect((await textsOf(person, question))[0]).toBe(TEXTS[index])
  })
})

describe('finds Japanese by its subject, however it is written', () => {
  const TEXTS = [
    '契約の解約は三十日前までに書面で行うものとする。',
    '契約の更新は六十日前までに口頭で行うものとする。',
    '森家の墓は浅草にある。',
    '關家の墓は牛込の寺にある。',
    '明治二十九年六月十五日に沿岸で津波があった。',
    '明治二十四年十月二十八日に内陸で地震があった。',
    '荷物が棚から落ちると、係の者が拾う。',
    '荷物を棚に置くことは、係の者に言う。',
    '売上の報告は毎月の末に経理へ出す。',
    'これはどこにでもあることで、だれもがそうしていることなのですから、いつまでもそうであるのでしょう。',
  ]
  let person: Person
  beforeAll(async () => {
    person = await test_.createPerson()
    for (const [index, text] of TEXTS.entries()) await addDocument(person, `${index}.txt`, text)
  })

  test.each([
    ['何を30日前までに行いますか？', 0],
    ['60日前までのものは何ですか', 1],
    ['関家の墓はどこですか', 3],
    ['1896年6月15日の出来事を教えてください', 4],
    ['荷物を落とす', 6],
    ['報告は、いつまでに、どこへすることになっているのでしょうか？', 8],
  ])('%s', async (question, index) => {
    expect((await textsOf(person, question))[0]).toBe(TEXTS[index])
  })
})

test.each([
  ['stems', 'Invoices are submitted monthly.', 'submitting an invoice'],
  ['irregular forms', 'Phosphorus fell, and the committee held the fund of it in the bank.', 'how far did it fall'],
  ['what a line cuts', '改造之前，水厂每天的供\n水能力不足。', '供水'],
  ['accents', 'Los años pasan deprisa en la ciudad y el campo.', 'anos'],
  ['codes in part', 'See regulation GDPR-2016/679 for this.', 'gdpr 679'],
  ['codes as a whole', 'The part number is AB-1200/7.', 'AB-1200/7'],
  ['numbers with separators', 'Revenue was 2,32,822 last year.', '232822'],
  ['Chinese', '黑豹队的防守只丢了分，在联赛中排名第六。', '排名'],
  ['Russian inflection', 'Защита уступила всего несколько очков.', 'сколько очко уступили'],
  ['Arabic with vowel signs', 'قرأ الطالب كِتَابًا في المكتبة', 'كتاب'],
  ['ligatures of a pdf', 'An eﬃcient oﬃce.', 'efficient'],
])('finds by %s', async (_name, text, question) => {
  const person = await test_.createPerson()
  await addDocument(person, 'a.txt', text)
  await addDocument(person, 'b.txt', 'Something else entirely, about ducks.')
  expect((await textsOf(person, question))[0]).toBe(text)
})

test('phrases that only ask for a size or a meaning are not searched', async () => {
  const person = await test_.createPerson()
  await addDocument(person, 'a.txt', 'Error E7: the hose of it is blocked, and that is to be cleaned by the user.')
  for (const [question, terms] of [
    ['What does error E7 mean?', ['error', 'e7']],
    ['How long is the hose?', ['hose']],
  ] as const) {
    const { trace } = await test_.database.asUser(person, (scope) => searchDocuments(scope, question))
    expect(trace.terms.map(({ term }) => term)).toEqual(terms)
  }
})

test('a question in another language than most of the library still finds its document', async () => {
  const person = await test_.createPerson()
  await addDocument(person, 'a.txt', 'The committee meets in the house and it is open to all of the people.')
  await addDocument(
    person,
    'b.txt',
    'Die Rechnungen sind innerhalb von dreißig Tagen nach dem Erhalt der Ware zu bezahlen.',
  )
  expect((await textsOf(person, 'Wann muss eine Rechnung bezahlt werden?'))[0]).toContain('Rechnungen')
})

describe('in a library of several languages', () => {
  const blank = 'A blank page is printed before it, and that is as it was for the best of all.'
  let person: Person

  beforeAll(async () => {
    person = await test_.createPerson()
    await addDocument(person, 'blank.txt', blank)
    await addDocument(person, 'shop.txt', 'The blanket of the shop is sold at the price that it was for.')
    await addDocument(
      person,
      'rutine.txt',
      'Det er ikke en av de som har ansvar for at det skal være til hjelp for den.',
    )
    await addDocument(
      person,
      'notatka.txt',
      'To jest notatka o tym, że nie ma czasu na spotkanie, i że osoby do tego są.',
    )
    await addDocument(person, 'cups.xlsx', 'Team | Location | Cups\nBlues | STL | 1')
  })

  /**
   * "blank" is the Norwegian stem of "blankets", and "osobi" the English one of "osoby", which has no Polish stemmer.
   */
  async function findsEachInItsLanguage(): Promise<void> {
    expect(await textsOf(person, 'blankets')).toEqual([expect.stringContaining('The blanket of the shop')])
    expect(await textsOf(person, 'blank')).toEqual([blank])
    expect(await textsOf(person, 'osoby')).toEqual([expect.stringContaining('osoby do tego')])
    expect(await textsOf(person, 'cup')).toEqual([expect.stringContaining('Blues')])
  }

  test('a word is searched by the stem of each language, and only in passages of that language', findsEachInItsLanguage)

  test('merging the segments does not change that', async () => {
    const { rows } = await test_.admin.query<{ segment: string }>(
      'select segment::text from search_segments where owner = $1',
      [person.sub],
    )
    await mergeSegments(
      test_.database,
      person.sub,
      rows.map(({ segment }) => segment),
    )
    await findsEachInItsLanguage()
  })

  test('the trace names a word by its stems', async () => {
    const { trace } = await test_.database.asUser(person, (scope) => searchDocuments(scope, 'blankets'))
    expect(trace.terms).toEqual([{ term: 'blanket/blank/blankets', weight: 1, passages: 1 }])
  })
})

test('the file name counts', async () => {
  const person = await test_.createPerson()
  await addDocument(person, 'minutes.txt', 'The budget was discussed at length by everyone in the room.')
  const id = await addDocument(person, 'garden_budget-2024.xlsx', 'A table of numbers that nobody explained.')
  expect((await search(person, 'garden budget'))[0]).toMatchObject({ documentId: id })
})

test('a question of stop words alone searches for them, and one without words finds nothing', async () => {
  const person = await test_.createPerson()
  await addDocument(person, 'a.txt', 'Who are they?')
  expect(await textsOf(person, 'who')).toEqual(['Who are they?'])
  expect(await search(person, '?! …')).toEqual([])
})

test('words such as "tell me" do not outweigh the subject of a question', async () => {
  const person = await test_.createPerson()
  await addDocument(person, 'story.txt', 'They tell the story of a king, and tell it well, and tell of it again.')
  await addDocument(
    person,
    'a.txt',
    ...Array.from({ length: 9 }, (_, n) => `The password of door ${n} is changed here.`),
  )
  for (const opening of ['Tell me about', 'Please tell us', 'Can you tell me more about'])
    expect((await textsOf(person, `${opening} the password`))[0], opening).toContain('password')
  expect((await textsOf(person, 'who may tell the password of the king'))[0]).toContain('story')
  expect((await textsOf(person, 'tell me'))[0]).toContain('story')
})

test('can be narrowed to documents and limited', async () => {
  const person = await test_.createPerson()
  const first = await addDocument(person, 'a.txt', 'Apples and pears.', 'Apples again.')
  const second = await addDocument(person, 'b.txt', 'Apples too.')
  expect((await search(person, 'apples')).length).toBe(3)
  expect((await search(person, 'apples', { documentIds: [second] })).map(({ documentId }) => documentId)).toEqual([
    second,
  ])
  expect((await search(person, 'apples', { documentIds: [first], limit: 1 })).length).toBe(1)
  expect(await search(person, 'apples', { documentIds: [] })).toEqual([])
})

test('a deleted document is no longer found, and indexing twice changes nothing', async () => {
  const person = await test_.createPerson()
  const id = await addDocument(person, 'a.txt', 'Apples and pears.')
  const before = await search(person, 'pears')
  await test_.database.asService((scope) =>
    indexDocument(scope, { id, owner: person.sub, filename: 'a.txt' }, [
      { page: 1, text: 'Apples and pears.', headings: null },
    ]),
  )
  expect(await search(person, 'pears')).toEqual(before)
  await test_.database.asUser(person, (scope) => deleteDocument(scope, id))
  expect(await search(person, 'pears')).toEqual([])
})

describe('another person', () => {
  test('finds nothing of it, not even by naming the document', async () => {
    const [owner, stranger] = [await test_.createPerson(), await test_.createPerson()]
    const id = await addDocument(owner, 'secret.txt', 'The password is swordfish.')
    await addDocument(stranger, 'own.txt', 'Nothing of interest.')
    expect((await search(owner, 'swordfish')).length).toBe(1)
    expect(await search(stranger, 'swordfish')).toEqual([])
    expect(await search(stranger, 'swordfish', { documentIds: [id] })).toEqual([])
  })

  test("does not change the scores of one's own passages", async () => {
    const [person, other] = [await test_.createPerson(), await test_.createPerson()]
    await addDocument(person, 'a.txt', 'Sailing boats.')
    await addDocument(person, 'b.txt', 'Rowing boats.')
    const before = await search(person, 'sailing')
    for (let index = 0; index < 5; index += 1) await addDocument(other, `${index}.txt`, 'Sailing and sailing.')
    expect(await search(person, 'sailing')).toEqual(before)
  })

  test('who is not signed in may not search', async () => {
    const attempt = test_.database.asUser({ role: 'anon' }, (scope) => searchPassages(scope, 'anything'))
    await expect(attempt).rejects.toThrow(/permission denied for table/)
  })
})

test('a misspelt word, or a form that no stemmer knows, finds similar words', async () => {
  const person = await test_.createPerson()
  await addDocument(person, 'a.txt', 'The government received an invoice for the lighthouse.')
  await addDocument(person, 'b.txt', 'Podpisano umowę najmu lokalu użytkowego w Krakowie.')
  const { passages, trace } = await test_.database.asUser(person, (scope) =>
    searchDocuments(scope, 'goverment recieved lighthuose'),
  )
  expect(passages[0]?.filename).toBe('a.txt')
  expect(trace.guessed.map(({ word }) => word)).toEqual(['goverment', 'recieved', 'lighthuose'])
  expect((await textsOf(person, 'użytkowych'))[0]).toContain('użytkowego')
  expect(await textsOf(person, 'xylophone')).toEqual([])
})

test('an index of many rows written by an older version is searched, guessed from and merged', async () => {
  const person = await test_.createPerson()
  const syllables = ['ba', 'ko', 'li', 'mu', 'ne', 'pra', 'sto', 'tu', 'vel', 'zin']
  const words = Array.from({ length: 30_000 }, (_, number) =>
    Array.from(String(number + 10_000), (digit) => syllables[Number(digit)] ?? '').join(''),
  )
  await addDocument(person, 'words.txt', words.slice(0, 15_000).join(' '), words.slice(15_000).join(' '))
  const { admin } = test_
  const owner = [person.sub]
  const buckets = await admin.query<{ bucket: number; content: Buffer }>(
    'select bucket, content from search_buckets where owner = $1 and bucket >= 0',
    owner,
  )
  expect(buckets.rows.length).toBeGreaterThan(100)
  for (const { bucket, content } of buckets.rows)
    await admin.query('update search_buckets set content = $3 where owner = $1 and bucket = $2', [
      person.sub,
      bucket,
      Buffer.concat([Buffer.from([0, 0]), deflateRawSync(unpackBlock(content).bytes)]),
    ])
  const vocabulary = await admin.query<{ bucket: number; content: Buffer }>(
    'select bucket, content from search_buckets where owner = $1 and bucket < 0',
    owner,
  )
  expect(vocabulary.rows.length).toBeGreaterThan(1)
  for (const { bucket, content } of vocabulary.rows)
    await admin.query('update search_buckets set content = $3 where owner = $1 and bucket = $2', [
      person.sub,
      bucket,
      Buffer.from(unpackWords(content).join(' ')),
    ])
  const found = async () => [
    await search(person, words[21_234] ?? ''),
    await search(person, (words[21_876] ?? '').replace('v', 'x')),
  ]
  const before = await found()
  expect(before.map(([best]) => best?.page)).toEqual([2, 2])
  const segments = await admin.query<{ segment: string }>(
    'select segment::text from search_segments where owner = $1',
    owner,
  )
  await mergeSegments(
    test_.database,
    person.sub,
    segments.rows.map(({ segment }) => segment),
  )
  expect(await found()).toEqual(before)
})

test('the same passage of two copies appears once', async () => {
  const person = await test_.createPerson()
  await addDocument(person, 'a.txt', 'The notice period is three months.')
  await addDocument(person, 'copy of a.txt', 'The notice period \nis three months.')
  const { passages, trace } = await test_.database.asUser(person, (scope) => searchDocuments(scope, 'notice period'))
  expect(passages).toHaveLength(1)
  expect(trace.considered.map(({ cut }) => cut).sort()).toEqual(['copy', null])
})

test('adjacent words rank before distant ones', async () => {
  const person = await test_.createPerson()
  await addDocument(
    person,
    'a.txt',
    'A house by the road. The light over there is dim and far from any harbour, they say.',
  )
  await addDocument(
    person,
    'b.txt',
    'A road by the house. They say the harbour light over there is dim and far from any.',
  )
  expect((await search(person, 'harbour light'))[0]?.filename).toBe('b.txt')
})

describe('merging', () => {
  const segmentsOf = async ({ sub }: Person) =>
    (await test_.admin.query<{ passages: number }>('select passages from search_segments where owner = $1', [sub])).rows
  const mergeAll = async ({ sub }: Person) => {
    const [job] = Object.values(createIndexJobs({ database: test_.database }))
    await job?.run({ owner: sub }, jobRun())
  }
  const TEXTS = Array.from(
    { length: 9 },
    (_, index) => `Note ${index} about the harbour and the keeper of light ${index}.`,
  )

  test('changes no score, and deleting afterwards is as exact as before', async () => {
    const [person, other] = [await test_.createPerson(), await test_.createPerson()]
    const ids: string[] = []
    for (const [index, text] of TEXTS.entries()) ids.push(await addDocument(person, `${index}.txt`, text))
    for (const [index, text] of TEXTS.slice(1).entries()) await addDocument(other, `${index + 1}.txt`, text)
    const before = await search(person, 'harbour light 4', { limit: 20 })
    await mergeAll(person)
    expect(await segmentsOf(person)).toHaveLength(1)
    const scores = (found: readonly FoundPassage[]) => found.map(({ filename, score }) => [filename, score]).sort()
    expect(scores(await search(person, 'harbour light 4', { limit: 20 }))).toEqual(scores(before))

    await test_.database.asUser(person, (scope) => deleteDocument(scope, ids[0] ?? ''))
    const left = await search(person, 'harbour light 4', { limit: 20 })
    expect(scores(left)).toEqual(scores(await search(other, 'harbour light 4', { limit: 20 })))
    expect(left.map(({ text }) => text)).not.toContain(TEXTS[0])
  })

  test('takes a backlog in several steps of bounded size', async () => {
    const person = await test_.createPerson()
    for (let index = 0; index < 30; index += 1)
      await addDocument(person, `${index}.txt`, `The harbour of note ${index}.`)
    const due = await test_.database.asService((scope) => findMerges(scope, person.sub))
    expect(due.map(({ segments }) => segments.length)).toEqual([10, 10, 10])
    expect(new Set(due.flatMap(({ segments }) => segments)).size).toBe(30)
    await mergeAll(person)
    expect(await segmentsOf(person)).toEqual([{ passages: 10 }, { passages: 10 }, { passages: 10 }])
    expect(await search(person, 'harbour', { limit: 50 })).toHaveLength(30)
  })

  test('rewrites a segment with many deleted passages, and drops one with only deleted passages', async () => {
    const person = await test_.createPerson()
    const ids: string[] = []
    for (const [index, text] of TEXTS.entries()) ids.push(await addDocument(person, `${index}.txt`, text))
    await mergeAll(person)
    for (const id of ids.slice(0, 4)) await test_.database.asUser(person, (scope) => deleteDocument(scope, id))
    await mergeAll(person)
    expect(await segmentsOf(person)).toEqual([{ passages: 5 }])
    expect(await search(person, 'harbour', { limit: 20 })).toHaveLength(5)
    for (const id of ids.slice(4)) await test_.database.asUser(person, (scope) => deleteDocument(scope, id))
    expect(await segmentsOf(person)).toEqual([])
  })
})

test('the search reads the rows of one owner by their keys, under the policy', async () => {
  const [person, other] = [await test_.createPerson(), await test_.createPerson()]
  await addDocument(person, 'a.txt', 'A word of mine.')
  await addDocument(other, 'b.txt', 'A word of somebody else.')
  await test_.admin.query(
    `insert into search_buckets select segment, number, owner, '' from search_segments, generate_series(1, 5000) as number where owner = $1`,
    [other.sub],
  )
  await test_.admin.query('analyze search_segments; analyze search_buckets')
  const plan = await test_.database.asUser(person, (scope) =>
    scope.query<{ 'QUERY PLAN': string }>(
      `explain select b.content from unnest('{1,2}'::bigint[], '{0,0}'::int[]) as wanted (segment, bucket)
       join search_buckets b on b.segment = wanted.segment and b.bucket = wanted.bucket where b.owner = (select auth.uid())`,
    ),
  )
  const lines = plan.rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(lines).toContain('search_buckets_pkey')
  expect(lines).toMatch(/Index Cond: \(\(segment = wanted\.segment\) AND \(bucket = wanted\.bucket\)\)/)
})

test('a merge of segments that commits between two statements of a search hides nothing from it', async () => {
  const person = await test_.createPerson()
  for (const place of ['harbour', 'cape', 'island'])
    await addDocument(person, `${place}.txt`, `The lighthouse of the ${place} was lit in winter.`)
  const segmentsOf = async () => {
    const { rows } = await test_.admin.query<{ segment: string }>(
      'select segment::text from search_segments where owner = $1 order by segment',
      [person.sub],
    )
    return rows.map(({ segment }) => segment)
  }
  const before = await segmentsOf()
  let isMerged = false
  const found = await test_.database.asUser(
    person,
    (scope) => {
      const interrupted: Scope = {
        ...scope,
        async prepared<Row extends QueryResultRow>(text: string, values?: readonly unknown[]) {
          const answer = await scope.prepared<Row>(text, values)
          if (!isMerged) {
            isMerged = true
            await mergeSegments(test_.database, person.sub, before)
          }
          return answer
        },
      }
      return searchPassages(interrupted, 'lighthouse')
    },
    { readOnly: true },
  )
  expect(before).toHaveLength(3)
  expect(await segmentsOf()).toHaveLength(1)
  expect(found).toHaveLength(3)
})

test('a repeated question about a subject finds equal passages from the cache, with one statement less', async () => {
  const person = await test_.createPerson()
  const ids: string[] = []
  for (let number = 0; number < 12; number += 1)
    ids.push(await addDocument(person, `${number}.txt`, `The lighthouse of place${number} warns ships of reefs.`))
  const reefs = await addDocument(person, 'rocks.txt', 'Reefs sink ships that nobody warns.')
  await addDocument(person, 'other.txt', ...Array.from({ length: 200 }, (_, number) => `Cake number ${number}.`))
  const ask = (count: () => void = () => undefined) =>
    test_.database.asUser(
      person,
      async (scope) => {
        const counted: Scope = {
          ...scope,
          prepared(text, values) {
            count()
            return scope.prepared(text, values)
          },
        }
        const { passages } = await searchDocuments(counted, 'lighthouse', { limit: 13 })
        return passages.map(({ documentId }) => documentId)
      },
      { readOnly: true },
    )
  const before = await ask()
  expect(before).toContain(reefs)
  let statements = 0
  expect(await ask(() => (statements += 1))).toEqual(before)
  expect(statements).toBe(2)

  const [gone = ''] = before
  await test_.database.asUser(person, (scope) => deleteDocument(scope, gone))
  const after = await ask()
  expect(after).not.toContain(gone)
  expect(after).toHaveLength(12)
  expect(after).toContain(reefs)
})

test('a search in other words reuses the ranking of the question, unless the library has changed', async () => {
  const person = await test_.createPerson()
  const beacon = await addDocument(person, 'beacon.txt', 'The beacon warns ships.')
  await addDocument(person, 'lighthouse.txt', 'The lighthouse of the island.')
  const ask = (options: SearchOptions) =>
    test_.database.asUser(person, (scope) => searchDocuments(scope, 'lighthouse', options), { readOnly: true })
  const { ranked } = await ask({})
  const byWords = ranked?.rankings.get('lighthouse')?.byWords
  expect(byWords?.order).toHaveLength(1)

  const again = await ask({ otherWords: ['beacon'] })
  const reusing = await ask({ otherWords: ['beacon'], earlier: ranked })
  expect(reusing.ranked?.rankings.get('lighthouse')?.byWords).toBe(byWords)
  expect(reusing.passages).toEqual(again.passages)
  expect({ ...reusing.trace, ms: 0 }).toEqual({ ...again.trace, ms: 0 })

  const chosen = await ask({ documentIds: [beacon], earlier: ranked })
  expect(chosen.passages).toEqual([])
  const wider = await ask({ limit: 150, earlier: ranked })
  expect(wider.ranked?.rankings.get('lighthouse')?.byWords).not.toBe(byWords)
  const added = await addDocument(person, 'new.txt', 'A lighthouse as well.')
  const later = await ask({ earlier: ranked })
  expect(later.passages.map(({ documentId }) => documentId)).toContain(added)
  await test_.database.asUser(person, (scope) => deleteDocument(scope, added))
  const last = await ask({ earlier: later.ranked })
  expect(last.passages.map(({ documentId }) => documentId)).not.toContain(added)
})

test('the ranking of one person is of no use to another', async () => {
  const [owner, other] = [await test_.createPerson(), await test_.createPerson()]
  await addDocument(owner, 'lighthouse.txt', 'The lighthouse of the island.')
  const { ranked } = await test_.database.asUser(owner, (scope) => searchDocuments(scope, 'lighthouse'))
  const { passages, trace } = await test_.database.asUser(other, (scope) =>
    searchDocuments(scope, 'lighthouse', { earlier: ranked }),
  )
  expect(passages).toEqual([])
  expect(trace.matched).toBe(0)
})
