import { groupWordsByLanguage } from '#server/search/query/parse-question.ts'

/** Words that ask for a summary, in the stemmed languages and some others; matched at the beginning of a word. */
const SUMMARY = [
  String.raw`summar(?:y|i[sz]e|i[sz]ing)|overview of|gist of|tl;?dr|(?:key|main|most important) (?:points|facts|ideas?|takeaways)`,
  String.raw`what (?:is|does) (?:this|the|that|my) (?:\w+ )?(?:file|document|pdf|paper|report|book|text|contract|letter) (?:all )?about`,
  String.raw`zusammenfass|fass\w* .{0,80}zusammen|überblick über|worum geht es|(?:kern|haupt)aussagen|wichtigste\w* (?:punkte|aussagen|fakten)|inhaltsangabe`,
  String.raw`résum|synthèse|de quoi (?:parle|traite)|points (?:clés|principaux)`,
  String.raw`resum[ei]|resúm|sintetiza|de qué (?:trata|habla)|puntos (?:clave|principales)`,
  String.raw`riassu|sintesi|sintetizza|di cosa (?:parla|tratta)|punti (?:chiave|principali)`,
  String.raw`resumo|resuma|sobre o que (?:é|fala)|pontos principais`,
  String.raw`samenvat|vat .{0,80}samen|waar gaat .{0,60} over|hoofdpunten`,
  String.raw`sammanfatt|sammendrag|oppsummer|opsummer|resumé|tiivist|yhteenveto|összefoglal|rezum|özetle|özeti`,
  String.raw`streszcz|podsumuj|shrň|souhrn|ringkas|rangkum|tóm tắt`,
  String.raw`кратк\w* (?:содержан|пересказ|излож)|резюм|перескаж|обобщи|о ч[её]м (?:этот|эта|это|данн)|основные (?:мысли|тезисы|пункты)`,
  String.raw`περίληψη|συνόψισ|περιληπτικ`,
  String.raw`لخص|تلخيص|ملخص|عم يتحدث|النقاط الرئيسية`,
  String.raw`सारांश|संक्षेप|சுருக்க|ամփոփ`,
]
const SUMMARY_UNSPACED = /总结|總結|概括|摘要|概述|主要内容|主要內容|要約|まとめ|概要|요약|สรุป/u

const LIST_ALL = [
  String.raw`(?:list|enumerate|extract|find|name|give me|show me|collect) (?:me )?(?:all|every|each|the names of all)\b`,
  String.raw`(?:what|which) are all\b|(?:how many|which) .{0,60}\bin (?:total|the whole (?:file|document))`,
  String.raw`(?:liste|zähl|nenn|gib|finde|zeig)\w* (?:mir |bitte )*(?:alle|sämtliche|jede[sn]?)\b|alle .{0,60}(?:auflisten|aufzählen|auf)[.!?]*$`,
  String.raw`(?:liste[rz]?|énumère[rz]?|énumérer|donne[rz]?(?:-moi)?|cite[rz]?|extrai[st]|extraire|trouve[rz]?) (?:moi )?(?:tou(?:s|tes|t)|chaque|l'ensemble)`,
  String.raw`(?:lista|listar|enumera\w*|dame|muestra|extrae|encuentra|nombra) (?:a )?(?:todos|todas|cada)`,
  String.raw`(?:elenca\w*|enumera|trova|estrai|dammi) (?:tutt[ie]|ogni)`,
  String.raw`(?:liste|listar|enumere|mostre|extraia|encontre) (?:todos|todas|cada)`,
  String.raw`(?:lijst|noem|geef|toon|som) (?:me )?(?:alle|elke|ieder)|lista (?:alla|upp alla)|list (?:alle|op alle)|listaa kaikki`,
  String.raw`(?:перечисли\w*|назови\w*|найди\w*|выпиши\w*|покажи\w*) (?:мне )?(?:все|всех|каждый|каждую)|список всех`,
  String.raw`(?:اذكر|عدد|استخرج|اعرض) (?:جميع|كل|كافة)|قائمة (?:بجميع|بكل)`,
  String.raw`(?:wymień|wypisz|podaj) wszystkie|(?:bütün|tüm) .{0,60}(?:listele|sırala|yaz)|(?:felsorol|sorold) .{0,40}(?:összes|minden)|(?:απαρίθμησε|γράψε|βρες) όλ`,
]
const LIST_ALL_UNSPACED =
  /(?:列出|列举|列舉|找出|写出|寫出).{0,4}(?:所有|全部|每)|(?:すべて|全て|全部).{0,20}(?:列挙|挙げ|リスト)|모든.{0,20}(?:나열|목록)/u

const atWordStart = (patterns: readonly string[]) => new RegExp(`(?<![\\p{L}\\p{N}])(?:${patterns.join('|')})`, 'iu')
const SUMMARY_SPACED = atWordStart(SUMMARY)
const LIST_ALL_SPACED = atWordStart(LIST_ALL)

const matchesAny = (question: string, patterns: readonly RegExp[]): boolean =>
  patterns.some((pattern) => pattern.test(question.normalize('NFC')))

/** Whether every item is requested, rather than a summary of them. */
export const asksToListAll = (question: string): boolean =>
  matchesAny(question, [LIST_ALL_SPACED, LIST_ALL_UNSPACED]) &&
  !matchesAny(question, [SUMMARY_SPACED, SUMMARY_UNSPACED])

export const withoutListAllWords = (question: string): string =>
  [LIST_ALL_SPACED, LIST_ALL_UNSPACED].reduce((rest, pattern) => rest.replace(pattern, ' '), question.normalize('NFC'))

const MIN_NAME_WORD_CHARACTERS = 3
/** Each word is compared with every document name, and a pasted text has thousands. */
const MAX_NAME_WORDS = 50
const GENERIC_NAME_WORDS =
  /^(?:files?|documents?|pdfs?|papers?|reports?|books?|texts?|datei(?:en)?|dokumente?|bericht|buch|fichier|livre|rapport|archivo|documento|fichero|libro|informe|bestand|boek|verslag|файл|документ|книга|текст|list|notes?|copy|version|final|draft|new)$/u

export const documentNameWords = (question: string): string[] =>
  groupWordsByLanguage(withoutListAllWords(question).replace(SUMMARY_SPACED, ' '))
    .flatMap((words) => [...words])
    .filter((word) => word.length >= MIN_NAME_WORD_CHARACTERS && !GENERIC_NAME_WORDS.test(word))
    .slice(0, MAX_NAME_WORDS)

export const asksAboutWholeDocument = (question: string): boolean =>
  matchesAny(question, [SUMMARY_SPACED, LIST_ALL_SPACED, SUMMARY_UNSPACED, LIST_ALL_UNSPACED])

const DOCUMENT_REFERENCE =
  /(?:this|the|that|my|dies\w*|das|die|der|ce|cette|le|la|este|esta|el|il|questo|questa|o|a|dit|deze|het|эт\w+|этот|هذا|هذه)\s+(?:\S+\s+)?(?:file|document|pdf|paper|report|book|text|datei|dokument|bericht|buch|fichier|livre|rapport|archivo|documento|fichero|libro|informe|bestand|boek|verslag|файл\S*|документ\S*|книг\S*|текст\S*|ملف|الملف|المستند|الوثيقة)|文件|文档|文檔|文書|ファイル|문서|파일|เอกสาร|ไฟล์/iu

const DOCUMENTS_REFERENCE =
  /(?:my|these|those|the|all|both|meine?\w*|diese\w*|die|alle\w*|mes|ces|les|mis|estos|los|miei|questi|meus|estes|os|mijn|deze|мои\S*|эти\S*)\s+(?:\S+\s+)?(?:files|documents|pdfs|papers|reports|books|texts|dateien|dokumente\w*|unterlagen|berichte\w*|fichiers|livres|rapports|archivos|documentos|informes|libros|documenti|rapporti|arquivos|bestanden|documenten|rapporten|файлы|документы|документах)(?!\p{L})/iu

export const refersToDocuments = (question: string): boolean => DOCUMENTS_REFERENCE.test(question)

export const refersToDocument = (question: string): boolean => DOCUMENT_REFERENCE.test(question)
