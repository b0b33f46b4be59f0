/**
 * Words that mean one document, picture or scan and what stands in it: "the image", "in my document". A question of them asks
 * for contents. The text is lower case and without punctuation. Pure.
 */
import { words } from './library-words.ts'

const has = (pattern: RegExp, text: string): boolean => new RegExp(pattern.source, 'u').test(text)

const KIND =
  'pdf|docx|xlsx|xls|txt|png|jpe?g|image|picture|photo|photograph|scan|spread ?sheet|work ?book|bild(?:e[st]?)?|foto|tabelle|arbeitsmappe|immagine|imagem|imagen|afbeelding|plaatje|tableur|classeur|planilha|hoja de cálculo|foglio di calcolo|folha de cálculo|изображени[еяию]|картинк[аеуи]|фото|фотографи[яию]|скан[ае]?|bilden|bildet|billedet?|fotot|fotoet|zdjęci[aeu]|obraz(?:ie|u|ku|ek)?|resim|görsel|fotoğraf'
const ONE_DOCUMENT =
  'document|file|doc|upload|(?:plain )?text (?:file|document)|dokument(?:e?s)?|datei|textdatei|fichier|archivo|fichero|documento|arquivo|ficheiro|bestand|stuk|документ(?:а|у|ом|е)?|файл(?:а|у|ом|е)?|dokumentet|filen|fila|fil|dokumen(?:cie|tu)|plik(?:u|iem)?|belge|dosya'
/** "the PDF files", "PDF format": the kind only describes documents or a format. */
const NOT_ONE =
  '(?! (?:files|documents|docs|dateien|dokumenten?|dokumente|tabellen|mappen|tables|sheets|tableaux|workbooks|format\\p{L}*|formaat|bestanden|filer|ark)(?!\\p{L}))'
const NOUN = `(?:${KIND}|${ONE_DOCUMENT})${NOT_ONE}`

const ARTICLE =
  'the|an?|this|that|one|d[ea][rmns]|die|das|eine?[rmns]?|diese[rmns]?|le|la|l|une?|ce|cet|cette|el|una|uno|este|esta|ese|esa|il|lo|questo|questa|quest|um|uma|esse|essa|het|een|dit|deze|dat|et|ett|den|det|denne|dette|detta|эт\\p{L}+|ten|tego|tym|tej|bu|şu'
const POSSESSIVE =
  'my|our|your|(?:mein|dein|unser|ihr)(?:e[rmns]?)?|unsre[rmns]?|mon|ma|notre|votre|ton|mi|tu|su|nuestr[oa]|mi[oa]|tu[oa]|nostr[oa]|meu|minha|noss[oa]|seu|sua|mijn|ons|onze|jouw|uw|мо[йяюем]\\p{L}?|наш\\p{L}*|mitt|mit|vårt|vår|mój|mojego|moim|mojej'
/** A word between the article and the noun: "the last photo", but not "the files is a PDF", nor "le format PDF". */
const BETWEEN = '(?:(?!format\\p{L}*|formaat|is|are|ist|sind|est|sont|files|documents|dokumenten?|dateien)\\p{L}+ )?'
const ONE = `(?:(?:${ARTICLE}|${POSSESSIVE}) )+${BETWEEN}(?:${NOUN})`
const MINE = words(`(?:(?:${ARTICLE}) )?(?:${POSSESSIVE}) ${BETWEEN}(?:${NOUN})`)
const DEFINITE = words(
  `(?:(?:the|this|that|das|dem|diese[rmns]?|le|la|l|ce|cet|cette|el|il|lo|este|esta|questo|questa|het|dit|deze|dat|эт\\p{L}+|${POSSESSIVE}) )+${BETWEEN}(?:${NOUN})`,
  'der datei|die datei|(?:der|die) tabelle',
  'dokumentet|bildet|billedet|filen|fila',
  '(?:المستند|الملف|الوثيقة|الصورة)',
)

const AT =
  'in|on|inside|within|to|into|from|auf|aus|an|zu|dans|sur|à|sobre|en|em|su|a|op|van|uit|i|på|av|af|til|till|w|na|z|в|во|на|из'
/** Prepositions that hold an article. */
const AT_ARTICLE =
  'im|am|vom|zum|zur|beim|du|au|del|al|nel|nella|nell|sul|sulla|sull|della|dell|dal|no|na|do|da|ao|neste|nesta|nesse|nessa|numa?'
/** Before a noun that ends in its article. */
const AT_SCANDINAVIAN = 'i|på|til|till|av|af|fra|från'
const IN_ONE = new RegExp(
  [
    words(
      `(?:${AT}) ${ONE}`,
      `(?:${AT_ARTICLE}) ${BETWEEN}(?:${NOUN})`,
      '(?:in|op|van|uit) de (?:pdf|foto|scan|afbeelding)',
      '(?:в|во|на|из) (?:\\p{L}+[ой]м )?(?:документе|файле|фото|фотографии|картинке|изображении|скане)',
      '(?:w|na) (?:dokumencie|pliku|zdjęciu|obrazie|obrazku)',
      `(?:${AT_SCANDINAVIAN}) (?:dokumentet|filen|fila|bildet|bilden|billedet|fotot|fotoet|skanningen)`,
      '(?:dem|einem|diesem|meinem|unserem) (?:dokument|bild|foto|pdf)',
      '(?:resim|belge|dosya|görsel|fotoğraf)[dt][ae]',
      '(?:في|على|من) (?:المستند|الملف|الوثيقة|الصورة|مستندي|ملفي|صورتي)',
    ).source,
    '(?<!私の|私たちの|自分の)(?:画像|写真|文書|書類|ファイル|ドキュメント)(?:の中)?には?(?:何|なに)',
    '(?<!我的|我们的)(?:图片|照片|圖片|文件|文档|文檔)(?:里面?|裡|中|上)(?:面)?(?:有|是)?(?:什么|什麼)',
    '(?<!내 ?|제 ?|나의 ?|저의 ?)(?:사진|이미지|그림|문서|파일)(?:에|에는|에서)? ?(?:무엇|무슨|뭐|뭔|오류)',
  ].join('|'),
  'u',
)

const ONE_OF_ANY = words(ONE, 'المستند|الملف|الوثيقة|الصورة')
const ONE_KIND = words(`(?:${KIND}|excel|word)${NOT_ONE}`)
const ASKS_WHAT_KINDS_ARE =
  /^(?:what are|was sind|que sont|qu est ce que|qué son|(?:che )?cosa sono|o que são|wat zijn|что такое|vad är|hva er|co to jest) (?!(?:the|die|les|los|las|gli|i|le|os|as|de|my|our|meine|unsere|mes|mis|miei|meus|minhas|mijn) )[^ ]+(?: [^ ]+)?$/u

/** Several documents: "which of my files is a PDF". */
const SEVERAL = words(
  'documents|files|docs|uploads|dokumenten?|dateien|unterlagen|fichiers|archivos|documentos|ficheros|documenti|(?:i|miei|dei|quali|quanti|nei|tutti) file|archivi|arquivos|ficheiros|documenten|bestanden|stukken',
  'документ(?:ы|ов|ам|ах|ами)|файл(?:ы|ов|ам|ах|ами)|dokumenter|dokumentene|(?:mina|vilka|alla|hvilke|alle|mine) dokument|filer|filene|filerna|dokument(?:y|ów|ach|om)|plik(?:i|ów|ach|om)|(?:belge|dosya)l[ae]r\\p{L}*',
  '(?:ال)?(?:مستندات|وثائق|ملفات)',
)

const SEVERAL_KINDS = words(
  'pdfs|images|pictures|photos|scans|spreadsheets|bilder[n]?|fotos|imágenes|immagini|imagens|afbeeldingen|изображени[яй]|картин(?:ки|ок)|фотографи[ий]|zdjęcia|bilder|billeder',
)

const FORMAT = words('(?:file|document) (?:formats?|types?|kinds?)')

/** Asks what is in one document, or whether something is in it. */
export const isInOneDocument = (text: string): boolean => IN_ONE.test(text)
/** "my document" */
export const isOneOwnDocument = (text: string): boolean => has(MINE, text)
/** "the document", "my document", but not "a document" */
export const isOneDocument = (text: string): boolean => has(DEFINITE, text)
/** "the image" or "a PDF", where no other documents are spoken of */
export const isOneObject = (text: string): boolean => has(ONE_OF_ANY, text) && !has(SEVERAL, text)
/** "What is Excel?", "What are PDFs?" */
export const asksWhatKindIs = (text: string): boolean =>
  (has(ONE_KIND, text) && !has(SEVERAL, text)) || ASKS_WHAT_KINDS_ARE.test(text)
/** "the newest file format" */
export const isFormat = (text: string): boolean => !has(SEVERAL, text) && has(FORMAT, text)
/** "my documents" */
export const isSeveralDocuments = (text: string): boolean => has(SEVERAL, text)
/** "my documents", "which pictures" */
export const isSeveral = (text: string): boolean => has(SEVERAL, text) || has(SEVERAL_KINDS, text)
