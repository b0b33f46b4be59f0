import { describe, expect, test } from 'vitest'
import { concernsLibrary, type LibraryQuestion, parseLibraryQuestion } from './parse-library-question.ts'

/** Friday. */
const now = new Date(2026, 10, 27, 16, 0)
const parse = (question: string, earlier: readonly string[] = []) => parseLibraryQuestion(question, { earlier, now })

const COUNTS = [
  'How many documents do I have?',
  'how many files are in my library',
  'What is the number of my documents?',
  'How many documents are there in total?',
  'Number of files in my library?',
  'Wie viele Dokumente habe ich?',
  'Wieviele Dateien sind in meiner Bibliothek?',
  "Combien de documents est-ce que j'ai ?",
  'Combien ai-je de fichiers ?',
  '¿Cuántos documentos tengo?',
  'Quanti documenti ho?',
  'Quantos documentos eu tenho?',
  'Hoeveel documenten heb ik?',
  'Сколько у меня документов?',
  'Hvor mange dokumenter har jeg?',
  'Hur många dokument har jag?',
  'Ile mam dokumentów?',
  'Kaç belgem var?',
  'ドキュメントはいくつありますか？',
  '私のファイルは何件ありますか。',
  '我有多少个文件？',
  '一共有多少文档？',
  '문서가 몇 개 있나요?',
  'كم عدد المستندات لدي؟',
  'كم ملفا لدي؟',
]
test.each(COUNTS)('counts documents: %s', (question) => {
  expect(parse(question)).toEqual({ asks: 'count', filter: {} })
})

const FAILURES = [
  'Which of my files could not be read, and why?',
  "Which documents couldn't be read?",
  'Which files failed?',
  'What could not be read in my library?',
  'Welche meiner Dateien konnten nicht gelesen werden und warum?',
  "Quels fichiers n'ont pas pu être lus, et pourquoi ?",
  '¿Qué archivos no se pudieron leer y por qué?',
  'Quali file non è stato possibile leggere e perché?',
  'Quais arquivos não puderam ser lidos e por quê?',
  'Welke bestanden konden niet worden gelezen, en waarom?',
  'Какие файлы не удалось прочитать и почему?',
  'Hvilke filer kunne ikke leses, og hvorfor?',
  'Vilka filer kunde inte läsas, och varför?',
  '読み込めなかったファイルはどれですか。理由は？',
  '哪些文件无法读取，为什么？',
  '읽을 수 없는 파일은 어떤 것이며 이유는 무엇입니까?',
  'ما هي الملفات التي لم يتم قراءتها ولماذا؟',
]
test.each(FAILURES)('names the documents that could not be read: %s', (question) => {
  expect(parse(question)?.filter).toEqual({ state: 'failed' })
})

const WORKBOOKS = [
  'Welche meiner Dateien sind Excel-Tabellen?',
  'Which of my files are spreadsheets?',
  'Which documents are Excel files?',
  'List my Excel workbooks',
  'Quels documents sont des tableaux Excel ?',
  'Quels de mes fichiers sont des tableurs ?',
  '¿Cuáles de mis archivos son hojas de cálculo?',
  'Quali dei miei file sono fogli di calcolo?',
  'Quais dos meus arquivos são planilhas do Excel?',
  'Welke van mijn bestanden zijn Excel-bestanden?',
  'Какие из моих файлов - таблицы Excel?',
  'Vilka av mina filer är Excel-filer?',
  'Hvilke av filene mine er Excel-ark?',
  'Excelのファイルはどれですか？',
  'エクセルファイルを一覧にしてください',
  '我的哪些文件是Excel表格？',
  '엑셀 파일은 어떤 것입니까?',
  'ما هي ملفات إكسل؟',
]
test.each(WORKBOOKS)('names the workbooks: %s', (question) => {
  expect(parse(question)).toEqual({ asks: 'documents', filter: { extensions: ['xls', 'xlsx'] } })
})

const JAPANESE = [
  'Which documents are in Japanese?',
  'Which of my files are written in Japanese?',
  'Do I have any documents in Japanese?',
  'Welche Dokumente sind auf Japanisch?',
  'Welche meiner Dateien sind in japanischer Sprache?',
  'Gibt es japanische Dokumente?',
  'Quels documents sont en japonais ?',
  '¿Qué documentos están en japonés?',
  'Quali documenti sono in giapponese?',
  'Quais documentos estão em japonês?',
  'Welke documenten zijn in het Japans?',
  'Какие документы на японском языке?',
  'Hvilke dokumenter er på japansk?',
  'Vilka dokument är på japanska?',
  'Które dokumenty są po japońsku?',
  '日本語の文書はどれですか？',
  '日本語で書かれたファイルはありますか',
  '哪些文件是日语的？',
  '哪些文档是用日文写的？',
  '일본어로 된 문서는 무엇입니까?',
  'ما هي المستندات باللغة اليابانية؟',
]
test.each(JAPANESE)('names the documents in a language: %s', (question) => {
  expect(parse(question)?.filter).toEqual({ language: 'ja' })
})

describe('days on which documents were added', () => {
  const day = (month: number, date: number, year = 2026) => new Date(year, month - 1, date)
  test.each<[string, Date, Date]>([
    ['Which documents did I add yesterday?', day(11, 26), day(11, 27)],
    ['What did I upload today?', day(11, 27), day(11, 28)],
    ['Which documents did I add last week?', day(11, 16), day(11, 23)],
    ['Which files were uploaded this week?', day(11, 23), day(11, 30)],
    ['Which documents did I add in May?', day(5, 1), day(6, 1)],
    ['Which documents did I add in December?', day(12, 1, 2025), day(1, 1)],
    ['How many files did I upload in May 2025?', day(5, 1, 2025), day(6, 1, 2025)],
    ['Which documents were added on 3 May 2026?', day(5, 3), day(5, 4)],
    ['Which files were added on 2026-05-03?', day(5, 3), day(5, 4)],
    ['Which files have I added in the last 7 days?', day(11, 20), day(11, 28)],
    ['Welche Dokumente habe ich letzte Woche hinzugefügt?', day(11, 16), day(11, 23)],
    ['Welche Dateien habe ich im Mai hochgeladen?', day(5, 1), day(6, 1)],
    ['Quels documents ai-je ajoutés hier ?', day(11, 26), day(11, 27)],
    ['¿Qué documentos añadí la semana pasada?', day(11, 16), day(11, 23)],
    ['Quali documenti ho aggiunto ieri?', day(11, 26), day(11, 27)],
    ['Quais documentos adicionei ontem?', day(11, 26), day(11, 27)],
    ['Welke documenten heb ik vorige week toegevoegd?', day(11, 16), day(11, 23)],
    ['Какие документы я добавил вчера?', day(11, 26), day(11, 27)],
    ['Какие документы я загрузил в мае?', day(5, 1), day(6, 1)],
    ['Hvilke dokumenter la jeg til i går?', day(11, 26), day(11, 27)],
    ['昨日追加した文書はどれですか？', day(11, 26), day(11, 27)],
    ['5月に追加したファイルは？', day(5, 1), day(6, 1)],
    ['我上周上传了哪些文件？', day(11, 16), day(11, 23)],
    ['어제 추가한 문서는 무엇입니까?', day(11, 26), day(11, 27)],
    ['ما هي المستندات التي أضفتها أمس؟', day(11, 26), day(11, 27)],
  ])('%s', (question, from, to) => {
    expect(parse(question)?.filter).toEqual({ added: { from, to } })
  })
})

describe('the first of an order', () => {
  test.each<[string, LibraryQuestion['order'], number?]>([
    ['What is the newest document?', 'newest'],
    ['Which document did I add last?', 'newest'],
    ['What are my three most recent files?', 'newest'],
    ['What are the 3 latest documents?', 'newest', 3],
    ['What is the biggest file?', 'largest'],
    ['Which of my documents has the most pages?', 'longest'],
    ['Which is my oldest document?', 'oldest'],
    ['Welches ist das neueste Dokument?', 'newest'],
    ['Was ist meine größte Datei?', 'largest'],
    ['Quel est le document le plus récent ?', 'newest'],
    ['¿Cuál es el archivo más grande?', 'largest'],
    ["Qual è l'ultimo documento?", 'newest'],
    ['Qual é o maior arquivo?', 'largest'],
    ['Wat is het nieuwste document?', 'newest'],
    ['Какой документ самый новый?', 'newest'],
    ['Hvilket dokument er det nyeste?', 'newest'],
    ['一番新しい文書はどれですか？', 'newest'],
    ['最大的文件是哪个？', 'largest'],
    ['가장 최근 문서는 무엇입니까?', 'newest'],
    ['ما هو أحدث مستند؟', 'newest'],
  ])('%s', (question, order, limit) => {
    expect(parse(question)).toMatchObject({ asks: 'documents', order, ...(limit ? { limit } : {}) })
  })
})

describe('subjects', () => {
  test.each<[string, string]>([
    ['Which documents are about breast cancer?', 'breast cancer'],
    ['Do I have anything about breast cancer in my files?', ''],
    ['Do I have documents on the Santa Cruz Branch Rail Line?', 'the Santa Cruz Branch Rail Line'],
    ['Which of my files mention Haldane?', 'Haldane'],
    ['List all documents about copyright', 'copyright'],
    ['In which documents is the deposit mentioned?', 'the deposit'],
    ['How many documents contain the word visa?', 'visa'],
    ['Welche Dokumente handeln von Brustkrebs?', 'Brustkrebs'],
    ['In welchen Dokumenten geht es um Brustkrebs?', 'Brustkrebs'],
    ['Welche Dateien erwähnen die Kaution?', 'die Kaution'],
    ['Quels documents parlent du cancer du sein ?', 'cancer du sein'],
    ['¿Qué documentos tratan sobre el cáncer de mama?', 'el cáncer de mama'],
    ['Quali documenti parlano del cancro al seno?', 'cancro al seno'],
    ['Quais documentos falam sobre câncer de mama?', 'câncer de mama'],
    ['Welke documenten gaan over borstkanker?', 'borstkanker'],
    ['В каких документах говорится о раке?', 'раке'],
    ['Hvilke dokumenter handler om brystkreft?', 'brystkreft'],
    ['乳がんに関する文書はどれですか？', '乳がん'],
    ['哪些文件提到了乳腺癌？', '乳腺癌'],
    ['유방암에 관한 문서는 무엇입니까?', '유방암'],
    ['ما هي المستندات التي تتحدث عن سرطان الثدي؟', 'سرطان الثدي'],
  ])('%s', (question, subject) => {
    if (subject === '') expect(parse(question)).toBeUndefined()
    else expect(parse(question)?.filter).toEqual({ subject })
  })
})

describe('names', () => {
  test.each<[string, string]>([
    ['Do I have a file called lease.pdf?', 'lease.pdf'],
    ['Do I have a file called “Lease Mill Lane”?', 'Lease Mill Lane'],
    ['Is there a document named budget 2025 in my library?', 'budget 2025 in my library'],
    ['Habe ich eine Datei namens Mietvertrag?', 'Mietvertrag'],
    ['Ai-je un fichier nommé bail.pdf ?', 'bail.pdf'],
    ['¿Tengo un archivo llamado contrato?', 'contrato'],
    ['Есть ли у меня файл под названием Договор?', 'Договор'],
    ['契約書という名前のファイルはありますか？', '契約書'],
    ['有没有叫合同的文件？', '合同'],
  ])('%s', (question, name) => {
    expect(parse(question)).toMatchObject({ asks: 'documents', filter: { name } })
  })

  test('facts of a named file', () => {
    expect(parse('How many pages does lease.pdf have?')).toEqual({ asks: 'pages', filter: { name: 'lease.pdf' } })
    expect(parse('When did I upload "Lease Mill Lane.docx"?')).toEqual({
      asks: 'added',
      filter: { name: 'Lease Mill Lane.docx' },
    })
    expect(parse('Why could scan.png not be read?')).toMatchObject({ filter: { name: 'scan.png' } })
    expect(parse('What does lease.pdf say about the deposit?')).toBeUndefined()
    expect(parse('What is in lease.pdf?')).toBeUndefined()
    expect(parse('Summarise lease.pdf')).toBeUndefined()
  })
})

test('pages and kinds are counted', () => {
  expect(parse('How many PDFs do I have?')).toEqual({ asks: 'count', filter: { extensions: ['pdf'] } })
  expect(parse('Wie viele PDF-Dateien habe ich?')).toEqual({ asks: 'count', filter: { extensions: ['pdf'] } })
  expect(parse('How many PDFs are there?')).toEqual({ asks: 'count', filter: { extensions: ['pdf'] } })
  expect(parse('How many images have I uploaded?')).toMatchObject({
    asks: 'count',
    filter: { extensions: ['jpg', 'jpeg', 'png'] },
  })
  expect(parse('How many pages do my documents have?')).toEqual({ asks: 'pages', filter: {} })
  expect(parse('Wie viele Seiten haben meine Dokumente insgesamt?')).toEqual({ asks: 'pages', filter: {} })
  expect(parse('How many pages do my German documents have?')).toEqual({ asks: 'pages', filter: { language: 'de' } })
  expect(parse('How many pages did I add this week?')).toMatchObject({ asks: 'pages', filter: { added: {} } })
  expect(parse('How many of my documents are in German?')).toEqual({ asks: 'count', filter: { language: 'de' } })
  expect(parse('Which documents do I have?')).toEqual({ asks: 'documents', filter: {} })
  expect(parse('What files have I uploaded?')).toMatchObject({ asks: 'documents' })
  expect(parse('List all files in my library')).toEqual({ asks: 'documents', filter: {} })
})

test('a question continues one about the library', () => {
  const earlier = ['How many documents do I have?']
  expect(parse('And which of them are PDFs?', earlier)).toEqual({ asks: 'documents', filter: { extensions: ['pdf'] } })
  expect(parse('Which ones could not be read?', earlier)).toEqual({ asks: 'documents', filter: { state: 'failed' } })
  expect(parse('Und welche davon sind auf Deutsch?', ['Wie viele Dokumente habe ich?'])?.filter).toEqual({
    language: 'de',
  })
  expect(parse('Which ones could not be read?', ['Who signed the lease?'])).toBeUndefined()
  expect(parse('And what about the deposit?', earlier)).toBeUndefined()
})

test.each([
  'Why?',
  'Why not?',
  'What is this?',
  'What is that?',
  'What is it in German?',
  'What is Excel?',
  'What is new in 2024?',
  'Who is that?',
  'What do I have?',
  'Wer ist das?',
  'Was ist das?',
  'Warum?',
  'Pourquoi ?',
  "Qu'est-ce que c'est ?",
  '¿Por qué?',
  '¿Qué es esto?',
  'Perché?',
  'Почему?',
  'なぜ？',
  '为什么？',
])('does not continue a question about the library: %s', (question) => {
  expect(parse(question, ['How many documents do I have?'])).toBeUndefined()
})

test.each([
  'Which ones?',
  'Which are they?',
  'List them',
  'Which of them are in German?',
  'What is the newest of them?',
  'Welche davon sind PDFs?',
  'Welche?',
  'Lesquels ?',
  "Lesquels d'entre eux sont en français ?",
  'Cuáles de ellos son PDF?',
  'Welke daarvan zijn in het Duits?',
  'Какие из них на русском языке?',
  'Why could they not be read?',
  'What could not be read?',
])('continues a question about the library: %s', (question) => {
  expect(parse(question, ['How many documents do I have?'])).toBeDefined()
})

test.each([
  '私の文書には何がありますか？',
  'What file types do I have?',
  'What did I upload today?',
  'What did I add last?',
  'What was uploaded yesterday?',
  'Was habe ich heute hinzugefügt?',
  "Qu'est-ce que j'ai ajouté hier ?",
  '¿Qué añadí ayer?',
  'Che cosa ho aggiunto ieri?',
  'What could not be read in the library?',
  'How big is my library?',
  'Wie groß ist meine Bibliothek?',
  'Quelle est la taille de ma bibliothèque ?',
  'How many documents are in the library?',
  'What is in my library?',
  'Do I have a PDF?',
  'Is there a PDF in my library?',
  'Habe ich ein Bild?',
  'Do I have a document about copyright?',
  'Which of my files is an image?',
  'Which of my files are in the PDF format?',
  'Quels documents sont au format PDF ?',
  'Combien de PDF ai-je ?',
  'What PDF files do I have?',
  'What are my PDFs?',
  'What are the Excel files?',
  'Which of my files are Word documents?',
  'What is the document that I added yesterday?',
  'Welche Dokumente enthalten das Wort Kaution?',
  'Welches Dokument enthält das Wort Kaution?',
  'Welches der Dokumente enthält das Wort Kaution?',
  'Quels documents contiennent le mot bail ?',
  'Welche Dokumente zum Thema Brustkrebs habe ich?',
  'Which files have reading errors?',
  'Welche Dateien haben Lesefehler?',
  'Can you show me the files that I added last week?',
])('asks about the library: %s', (question) => {
  expect(parse(question)).toBeDefined()
})

const OTHERS = [
  'How many documents does the contract require?',
  'Which documents must I enclose?',
  'Which documents are required for a visa?',
  'How many documents do I have to submit?',
  'Which documents do I need?',
  'Which documents should I bring?',
  'How many files can be uploaded at once?',
  'What is the newest printer model?',
  'How many pages does the report have to have?',
  'How many pages may I print per month?',
  'Which files does the audit log record?',
  'Which file format must the data have?',
  'Which documents does the trustee keep?',
  'What did I agree to last week?',
  'What is the biggest share in the fund?',
  'Which language is the contract in?',
  'In which language do the fans write their message?',
  'What are my documents about?',
  'Summarise my documents',
  'What do my documents say about rent?',
  'In test-note-utf16.txt, what is said about hamburgers?',
  'According to the Word files about the duck, what should one wear when swimming?',
  'Which images show a flower?',
  'How many images does the scanner save?',
  'Wie viele Unterlagen muss ich einreichen?',
  'Wie viele Unterlagen habe ich einzureichen?',
  'Welche Unterlagen brauche ich für den Antrag?',
  'Welche Dokumente sind beizulegen?',
  'Quels documents dois-je fournir ?',
  'Combien de documents faut-il joindre ?',
  '¿Cuántos documentos tengo que presentar?',
  '¿Qué documentos debo presentar?',
  'Quali documenti devo allegare?',
  'Quantos documentos tenho de entregar?',
  'Welke documenten moet ik meesturen?',
  'Какие документы нужны для визы?',
  'Сколько документов нужно подать?',
  'Hvilke dokumenter må jeg legge ved?',
  'Vilka dokument krävs för visum?',
  '申請にはどの書類が必要ですか？',
  '申请签证需要哪些文件？',
  '비자 신청에 필요한 서류는 무엇입니까?',
  'ما هي المستندات المطلوبة للتأشيرة؟',
  'Hello',
  'Thank you!',
  'When was the contract added?',
  'Who wrote the newest chapter?',
]
const ONE_DOCUMENT = [
  'What does the image show?',
  'What is this document?',
  'What kind of document is this?',
  'What is the most recent file format?',
  'What does the spreadsheet list?',
  'When was the scan?',
  'How big is the picture?',
  'Was ist das für ein Bild?',
  'Que contient mon document ?',
  "Cosa mostra l'immagine?",
  'What is in the picture?',
  'What does the scan show?',
  'What is in my document?',
  'What is in the document?',
  'What is in my lease.pdf?',
  'What is on the last photo?',
  'What is in the newest document?',
  'What is in the German document?',
  'What is in the file that I uploaded yesterday?',
  'What was added to the document last year?',
  'Is there a picture in the document?',
  'Are there images in the file?',
  'Are there pictures in lease.pdf?',
  'Is my name in lease.pdf?',
  'How many images are in the document?',
  'How many pictures does the document have?',
  'How many pages are there in the document?',
  'Does the document mention Haldane?',
  'Does my document contain a signature?',
  'Is the document about copyright?',
  'Show me what the image is',
  'Was ist auf dem Bild?',
  'Wer ist auf dem Foto?',
  'Was zeigt das Bild?',
  'Was ist in meinem Dokument?',
  'Was ist im Dokument?',
  'Wie viele Bilder hat das Dokument?',
  'Gibt es ein Bild in dem Dokument?',
  "Que montre l'image ?",
  "Qu'y a-t-il sur la photo ?",
  "Qu'y a-t-il dans mon document ?",
  "Combien d'images contient le document ?",
  '¿Qué hay en la imagen?',
  '¿Qué hay en mi documento?',
  "Che cosa c'è nella foto?",
  'O que há na imagem?',
  'Wat is er in de afbeelding?',
  'Wat is er in het document?',
  'Что на фото?',
  'Что есть в документе?',
  'Vad finns i dokumentet?',
  'Hva er på bildet?',
  'Co jest na zdjęciu?',
  'Resimde ne var?',
  '写真には何がありますか？',
  '图片里有什么？',
  '사진에 무엇이 있나요?',
  'ماذا يوجد في الصورة؟',
]

const KINDS = [
  'What is a PDF?',
  'What is a document?',
  'Was ist eine Datei?',
  'What is Excel?',
  'What is a Word document?',
  'What is a spreadsheet?',
  'What are spreadsheets?',
  'What are Excel files?',
  'What is the last word?',
  'Which is the longest word?',
  'Do I have the last word?',
  'Was ist ein PDF?',
  'Was ist Excel?',
  'Was sind PDF-Dateien?',
  "Qu'est-ce qu'un PDF ?",
  "Qu'est-ce que Excel ?",
  '¿Qué es un PDF?',
  "Che cos'è un PDF?",
  'O que é um PDF?',
  'Wat is een PDF?',
  'Что такое PDF?',
  'PDFとは何ですか？',
  'PDF是什么？',
]

const REQUIRED = [
  'Welche Unterlagen sind zur Anmeldung erforderlich?',
  'Welche Unterlagen sind zum Termin mitzubringen?',
  'Welche Dokumente sind zur Prüfung da?',
  'Welche Unterlagen enthält der Antrag?',
  'Welches Dokument enthält der Antrag?',
  'Welche Dateien erwähnt der Bericht?',
  'Wie viele Dokumente enthält die Akte?',
  'Quels documents contient le dossier ?',
  'Combien de fichiers contient le dossier ?',
  '¿Qué documentos contiene el expediente?',
  '¿Cuántos documentos menciona el contrato?',
  'Quali documenti contiene il fascicolo?',
  'Que documentos contém o processo?',
  'Welke documenten bevat het dossier?',
  'Какие документы содержит дело?',
  'Which documents have to contain the VAT number?',
  'Which documents are to include the signature?',
  'Which documents do I have to include in the application?',
  'Which files do I have to upload today?',
  'Which images can I upload?',
  'How many PDFs can be added?',
  'Which pictures are on the cover?',
  'Which documents are on the table?',
  'Which files are on the server?',
  'Quelles images sont sur la couverture ?',
  'Quels documents sont sur la table ?',
  'Quali documenti sono sul tavolo?',
  '¿Qué documentos están sobre la mesa?',
]

const ERRORS = [
  'Are there errors in the document?',
  'Is there an error in lease.pdf?',
  'Are there any failures in the document?',
  'Which documents were damaged?',
  'Which files are broken?',
  'Why are there errors in my documents?',
  'Gibt es Fehler in dem Dokument?',
  'Gibt es Fehler in meinen Dokumenten?',
  'Welche Unterlagen wurden beschädigt?',
  'Welche Dateien sind defekt?',
  'Welche Dokumente sind fehlerhaft?',
  'Y a-t-il des erreurs dans le document ?',
  '¿Hay errores en el documento?',
  'Ci sono errori nel documento?',
  'Há erros no documento?',
  'Zijn er fouten in het document?',
  'Есть ли ошибки в документе?',
  'Czy są błędy w dokumencie?',
  '문서에 오류가 있나요?',
]

const RELATIVE_CLAUSES = [
  'Habe ich Dokumente, die bald ablaufen?',
  'Habe ich Unterlagen, die ich unterschreiben muss?',
  'Gibt es Dateien, die veraltet sind?',
  'Habe ich Dokumente, in denen Namen stehen?',
  'Gibt es Dokumente, die über 10 Seiten haben?',
  'Heb ik documenten die verlopen?',
  'Heb ik bestanden die oud zijn?',
  'Zijn er documenten die ik moet ondertekenen?',
  'Heb ik documenten waarin mijn naam staat?',
  'Do I have documents that name a guarantor?',
  'Which of my documents name the landlord?',
  'Are there files that name my employer?',
  'Do I have documents in my name?',
]

const NO_UPLOADS = [
  'What is new in 2024?',
  'What was new last year?',
  'What is new this month?',
  'What was added last year?',
  'What has been added in 2024?',
  'What did he add last year?',
  'What did they add in May?',
  'Which was added last?',
  'How many pages did I have last year?',
  'Was ist neu in 2024?',
  'Was ist neu im Mai?',
  'Was wurde letztes Jahr hinzugefügt?',
  'Quoi de nouveau en 2024 ?',
  "Qu'est-ce qui a été ajouté en 2024 ?",
  '¿Qué hay de nuevo en 2024?',
  'Che cosa è stato aggiunto in 2024?',
  'O que há de novo em 2024?',
  'Wat is er nieuw in 2024?',
  'Что нового в 2024 году?',
]

const BUILDINGS = [
  'Is there a library?',
  'Is there a library in Mill Lane?',
  'Is there a library in the document?',
  'Is the library new?',
  'How big is the library?',
  'Do I have a library?',
  'Which is the biggest library?',
  'Which library is the oldest?',
  'How many libraries are there?',
  'Gibt es eine Bibliothek?',
  'Wie groß ist die Bibliothek?',
  'Welche Bibliothek ist die größte?',
  'Y a-t-il une bibliothèque ?',
  'Quelle est la taille de la bibliothèque ?',
  '¿Hay una biblioteca?',
  "C'è una biblioteca?",
  'Is er een bibliotheek?',
  'Есть ли библиотека?',
  '有没有图书馆？',
]

test.each([
  ...OTHERS,
  ...ONE_DOCUMENT,
  ...KINDS,
  ...REQUIRED,
  ...ERRORS,
  ...RELATIVE_CLAUSES,
  ...NO_UPLOADS,
  ...BUILDINGS,
])('asks something else: %s', (question) => {
  expect(parse(question)).toBeUndefined()
})

test('a model is told the names of the documents where they may help it', () => {
  expect(concernsLibrary('Which of my files should I read first?')).toBe(true)
  expect(concernsLibrary('List my documents by how urgent they are')).toBe(true)
  expect(concernsLibrary('Welche meiner Dokumente sind veraltet?')).toBe(true)
  expect(concernsLibrary('What do my documents say about rent?')).toBe(false)
  expect(concernsLibrary('Which documents must the tenant enclose?')).toBe(false)
})
