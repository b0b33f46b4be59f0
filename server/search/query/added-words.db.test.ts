import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { indexDocument } from '#server/search/index/index-document.ts'
import { searchDocuments } from '#server/search/search.ts'

type Person = Awaited<ReturnType<TestDatabase['createPerson']>>

let test_: TestDatabase
beforeAll(async () => {
  test_ = await createTestDatabase()
})
afterAll(() => test_.drop())

async function addDocument(owner: Person, filename: string, text: string): Promise<void> {
  const id = randomUUID()
  await test_.database.asService(async (scope) => {
    await scope.query(
      `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state) values ($1, $2, $3, $3, 'text/plain', 1, $4, $4, 'ready')`,
      [id, owner.sub, filename, randomUUID()],
    )
    await scope.query('insert into document_pages (document_id, owner, page, text) values ($1, $2, 1, $3)', [
      id,
      owner.sub,
      text,
    ])
    await indexDocument(scope, { id, owner: owner.sub, filename }, [{ page: 1, text, headings: null }])
  })
}

const ENGLISH = {
  'agreement.txt':
    'The parties have agreed that either of them may terminate this agreement with thirty days of written notice.',
  'statement.txt': 'The clergyman led a policeman to the house in which the overshoe was found.',
  'treatment.txt':
    'You will usually start radiotherapy about four weeks after surgery, and it is given for five weeks.',
  'rules.txt': 'An accessory dwelling unit may be rented to a member of the family, and to other people with a permit.',
}
const OTHERS = {
  'vertrag.txt':
    'Der Mieter und der Vermieter sind sich einig, dass die Kaution nach dem Auszug und der Übergabe zurückgezahlt wird.',
  'mura.txt': 'ある日の暮方の事である。老婆は死体の頭から髪の毛を抜いていた。',
  'roman.txt': 'Князь Долохов не был на балу, и граф играл в карты с ним и с его другом.',
}

async function createLibrary(files: Readonly<Record<string, string>>): Promise<Person> {
  const person = await test_.createPerson()
  for (const [name, text] of Object.entries(files)) await addDocument(person, name, text)
  return person
}

const searchAs = (person: Person, question: string) =>
  test_.database.asUser(person, (scope) => searchDocuments(scope, question))

async function firstFor(person: Person, question: string) {
  const { passages, trace } = await searchAs(person, question)
  return { filename: passages[0]?.filename, added: trace.added ?? [], trace }
}

test.each([
  { question: 'Is there a priest?', filename: 'statement.txt', origin: 'everyday', word: 'priest' },
  { question: 'What did the burglars steal from the cop?', filename: 'statement.txt', origin: 'everyday', word: 'cop' },
  { question: 'When can I quit?', filename: 'agreement.txt', origin: 'everyday', word: 'quit' },
  { question: 'Where was the galosh?', filename: 'statement.txt', origin: 'synonym', word: 'galosh' },
  { question: 'Can I let the granny flat?', filename: 'rules.txt', origin: 'everyday', word: 'granny flat' },
])('a word that the library lacks is looked for by its synonyms: $question', async ({ question, filename, ...of }) => {
  const person = await createLibrary(ENGLISH)
  const found = await firstFor(person, question)
  expect(found.filename).toBe(filename)
  expect(found.added).toContainEqual(expect.objectContaining(of))
})

test('a concept without another English word leaves the synonyms of WordNet', async () => {
  const person = await createLibrary({ ...ENGLISH, 'lost.txt': 'A white hanky was found below the third seat.' })
  const { filename, added } = await firstFor(person, 'Where was the handkerchief?')
  expect(filename).toBe('lost.txt')
  expect(added).toContainEqual(expect.objectContaining({ origin: 'synonym', word: 'handkerchief' }))
})

test.each([
  { question: 'Wann beginnt nach der Brustoperation die Bestrahlung?', filename: 'treatment.txt' },
  { question: 'Quand commence la radiothérapie ?', filename: 'treatment.txt' },
  { question: 'Когда начинается облучение после операции?', filename: 'treatment.txt' },
  { question: '手術の後、放射線治療はいつ始まりますか。', filename: 'treatment.txt' },
  { question: '수술 후 방사선 치료는 언제 시작합니까?', filename: 'treatment.txt' },
  { question: 'متى يبدأ العلاج الإشعاعي بعد الجراحة؟', filename: 'treatment.txt' },
  { question: 'When do I get the deposit back?', filename: 'vertrag.txt' },
  { question: 'What did the old woman do?', filename: 'mura.txt' },
])('a question finds documents of another language: $question', async ({ question, filename }) => {
  const person = await createLibrary({ ...ENGLISH, ...OTHERS })
  const found = await firstFor(person, question)
  expect(found.filename).toBe(filename)
  expect(found.added.map(({ origin }) => origin)).toContain('translation')
})

test.each([
  { question: 'Wie ist das Tal entstanden?', words: ['valley'] },
  { question: 'Как образовалась долина?', words: ['valley'] },
  { question: 'ما الذي نحت الوادي؟', words: ['valley'] },
  { question: '氷河は何を作りましたか。', words: ['glacier'] },
  { question: '빙하는 무엇을 만들었습니까?', words: ['glacier'] },
])('words of nature are known in other languages: $question', async ({ question, words }) => {
  const person = await createLibrary({
    ...ENGLISH,
    'geology.txt': 'A glacier carved the valley long before the first people came.',
  })
  const { filename, added } = await firstFor(person, question)
  expect(filename).toBe('geology.txt')
  expect(added.flatMap((each) => each.words)).toEqual(expect.arrayContaining(words))
})

test.each([
  { question: 'Сколько денег Ростов проиграл?', words: ['rostov'] },
  { question: 'ماذا أراد روستوف؟', words: ['rostov'] },
  { question: 'ロストフは何をしましたか。', words: ['rostov'] },
  { question: '로스토프는 어디에 있었습니까?', words: ['rostov'] },
  { question: '罗斯托夫去了哪里?', words: ['rostov'] },
])('a name is found as another script writes it: $question', async ({ question, words }) => {
  const person = await createLibrary({
    ...ENGLISH,
    'novel.txt': 'Count Rostov walked through the garden with his guests.',
  })
  const { filename, added } = await firstFor(person, question)
  expect(filename).toBe('novel.txt')
  expect(added).toContainEqual(expect.objectContaining({ origin: 'script', words }))
})

test('a name in katakana is whole, although it holds other words', async () => {
  const person = await createLibrary({ ...ENGLISH, 'emperor.txt': 'Napoleon slept badly in that house.' })
  const { filename, added } = await firstFor(person, 'ナポレオンはどこで眠りましたか。')
  expect(filename).toBe('emperor.txt')
  expect(added).toContainEqual(expect.objectContaining({ word: 'ナポレオン', origin: 'script', words: ['napoleon'] }))
})

test.each(['日本の文明は何ですか。', '언제 시작합니까?', 'Wo ist die Kaution?'])(
  'words that are no names are not read as names: %s',
  async (question) => {
    const person = await createLibrary({
      ...ENGLISH,
      ...OTHERS,
      'words.txt': 'The revenue of a bank and the phenomena of fungi ionize катион.',
    })
    expect((await firstFor(person, question)).added.map(({ origin }) => origin)).not.toContain('script')
  },
)

test('a name in Latin letters is found in a Russian document', async () => {
  const person = await createLibrary({ ...ENGLISH, ...OTHERS })
  const { filename, added } = await firstFor(person, 'Where did Dolokhov go?')
  expect(filename).toBe('roman.txt')
  expect(added.map(({ origin }) => origin)).toContain('script')
})

test('where documents are in the language of the question, only words with a capital letter may be names', async () => {
  const person = await createLibrary({
    ...OTHERS,
    'novel.txt': 'Count Rostov walked through the garden with his guests.',
  })
  expect((await firstFor(person, 'Где ростов?')).added.map(({ origin }) => origin)).not.toContain('script')
  expect((await firstFor(person, 'Где Ростов?')).added.map(({ origin }) => origin)).toContain('script')
})

test('years of a Russian question are no summers, although their stems are equal', async () => {
  const person = await createLibrary({ ...ENGLISH, 'calendar.txt': 'The summer of that boy was long.' })
  const { added } = await firstFor(person, 'Сколько лет мальчику?')
  expect(added.flatMap((each) => each.words)).not.toContain('summer')
})

test('both parts of a compound are looked for', async () => {
  const person = await createLibrary({ ...OTHERS, 'breast.txt': 'After the surgery of the breast she must rest.' })
  const { added } = await firstFor(person, 'Was kostet die Brustoperation?')
  const words = added.flatMap((each) => each.words)
  expect(words).toContain('breast')
  expect(words).toContain('surgery')
})

test('nothing is added to a pasted text', async () => {
  const person = await createLibrary(ENGLISH)
  expect((await firstFor(person, `priest ${'lorem ipsum '.repeat(200)}`)).added).toEqual([])
})

test('nothing is added to a question whose words are all there', async () => {
  const person = await createLibrary(ENGLISH)
  const { trace, filename } = await firstFor(person, 'Who may terminate the agreement with written notice?')
  expect(filename).toBe('agreement.txt')
  expect(trace.added).toBeUndefined()
})

test('evidence stays that of the words of the question itself', async () => {
  const person = await createLibrary(ENGLISH)
  const { trace, filename } = await firstFor(person, 'priest')
  expect(filename).toBe('statement.txt')
  expect(trace.evidence).toBe(0)
})
