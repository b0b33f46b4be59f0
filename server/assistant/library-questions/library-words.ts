/**
 * Words of questions about the library itself, in the languages that the Reader answers in. A question is one only if all of
 * its words are among these or are filler words, so that a verb such as "require" or "enclose" makes it another question.
 * The text is lower case and without punctuation.
 */

/** Matches whole words. */
export const words = (...patterns: readonly string[]): RegExp =>
  new RegExp(String.raw`(?<![\p{L}\p{M}\p{N}])(?:${patterns.join('|')})(?![\p{L}\p{M}\p{N}])`, 'gu')

/** Matches whole words in the first pattern, and anything in the second: Chinese, Japanese and Korean attach particles. */
const wordsOrParts = (spaced: readonly string[], unspaced: string): RegExp =>
  new RegExp(`${words(...spaced).source}|${unspaced}`, 'gu')

export const FAILED = wordsOrParts(
  [
    String.raw`(?:(?:could|can|were|was|have|has|had|are|is|did) ?)?(?:cannot|not|n t|t) (?:been |be |get )?(?:read(?:able)?|process(?:ed)?|open(?:ed)?|index(?:ed)?|search(?:able|ed)|parsed|recogni[sz]ed)|couldn t be (?:read|processed|opened|indexed|searched|parsed)`,
    String.raw`(?:couldn|can|weren|wasn|haven|hasn|aren|isn|didn|unable to|failed to|fail to) ?(?:t )?(?:been |be |get )?(?:read(?:able)?|processed?|opened|indexed|searched|parsed|load(?:ed)?)`,
    'unreadable|failed|fail|corrupt(?:ed)?|read(?:ing)? (?:errors?|failures?)',
    String.raw`(?:konnten?|können|kann|wurden?|werden|sind|ist|waren?)? ?nicht (?:gelesen|eingelesen|lesbar|geöffnet|verarbeitet|durchsuchbar|lesen)\p{L}*(?: (?:werden|worden))?|unlesbar\p{L}*|fehlgeschlagen\p{L}*|lesefehler\p{L}*`,
    String.raw`(?:n (?:ont|a|ai|est|sont|étaient|était) )?(?:pas|pu) (?:pu )?(?:être )?(?:lue?s?|lisibles?|ouverte?s?|traitée?s?)|illisibles?|échou\p{L}*|en échec|erreurs? de lecture`,
    String.raw`no (?:se )?(?:pudieron|pudo|pueden|puede|han podido|ha podido|fueron|son|pude|se) ?(?:se )?(?:leer(?:se)?|ser leíd[oa]s?|abrir(?:se)?|leíd[oa]s?|procesar(?:se)?|legibles?)|ilegibles?|fallid[oa]s?|fallaron|falló|no legibles?|errores de lectura`,
    String.raw`non (?:è |sono |si )?(?:stat[oaie] |possono |può |potevano |poteva )?(?:possibile |potut[oaie] )?(?:essere )?(?:lett[oaie]|leggere|leggibil[ei]|aprire|apert[oaie])|illeggibil[ei]|fallit[oaie]|errori di lettura`,
    String.raw`não (?:puderam|pôde|podem|pode|foram|foi|é|são|conseguiram|conseguiu) ?(?:ser )?(?:lid[oa]s?|abert[oa]s?|possível ler|ler|legíveis)|ilegíve(?:l|is)|falhad[oa]s?|falharam|falhou|erros de leitura`,
    String.raw`(?:konden|kon|kunnen|kan|zijn|is|werden|werd)? ?niet (?:worden |kunnen worden )?(?:gelezen|geopend|leesbaar|verwerkt|te lezen)(?: kunnen)?(?: worden)?|onleesba\p{L}+|mislukt\p{L}*|leesfouten`,
    String.raw`не (?:удалось|получилось|смогли|смог|были|был|была|было|могут быть|может быть|читаются|читается|открываются|открывается|прочитан\p{L}*) ?(?:прочитать|прочитан\p{L}*|прочесть|открыть|обработать)?|нечитаем\p{L}*|ошибк\p{L}* чтения`,
    String.raw`(?:kunde|kan|gick|har|kunne|lot seg|ble|blev|er) (?:ikke|inte) (?:att )?(?:bli |blive |blitt )?(?:läsas|läsa|lästs|läsbara?|öppnas|leses|lese|lest|læses|læst|læse|lesbare?|læsbare?|åpnes|åbnes)|oläsbar\p{L}*|uleselig\p{L}*|ulæselig\p{L}*|misslyck\p{L}*|mislyk\p{L}*|mislykk\p{L}*`,
    String.raw`nie (?:udało się|można|można było|mogły|mogł\p{L}+|zostały|został|da się|są) ?(?:zostać )?(?:odczytać|przeczytać|odczytan\p{L}*|przeczytan\p{L}*|otworzyć|czytelne)|nieczyteln\p{L}*|błęd\p{L}* odczytu`,
    String.raw`okunama\p{L}*|okunamı\p{L}*|okunmayan\p{L}*|başarısız\p{L}*`,
    String.raw`(?:لم|لا|تعذر|تعذرت|لم يتم|لم تتم|لم يمكن|لا يمكن|لم أتمكن من|تعذر علي) ?(?:يمكن |تمكن )?(?:قراءته?ا?م?|قراءة|قراءتها|تقرأ|فتحها|معالجتها)|غير مقروءة?|فشل\p{L}*|فشلت`,
  ],
  '読み(?:込め|取れ|込む|取る)(?:なかった|ませんでした|ない|ません)(?:もの)?|読めな(?:かった|い)|読めません(?:でした)?|読み(?:込み|取り)(?:に)?(?:失敗|エラー)(?:した|しました)?|(?:无法|不能|没能|未能|没有|没|無法|沒有)(?:被)?(?:成功)?(?:读取|读出|读|打开|识别|处理|讀取|讀|打開)(?:成功)?(?:的)?|读取失败(?:的|了)?|读不(?:出来|了)|讀取失敗|失败|失敗|读取(?:出错|错误)|읽을 ?수 ?없\\S*|읽지 ?못\\S*(?: 한)?|읽히지 ?(?:않|못)\\S*|읽기(?:에)? ?실패\\S*|실패한|읽기 ?오류',
)

export const WHY = wordsOrParts(
  [
    'why|for what reasons?|for which reasons?|(?:the )?reasons?|warum|weshalb|wieso|aus welch\\p{L}* gr(?:u|ü)nd\\p{L}*|gr(?:u|ü)nde?|pourquoi|por qu[eé]|perch[eé]|porqu[eê]|por qu[eê]|motiv[oi]s?|waarom|почему|из за чего|причин\\p{L}*|varför|hvorfor|dlaczego|neden|niye|niçin|لماذا|السبب|سبب|ولماذا',
  ],
  'なぜ|どうして|理由|为什么|為什麼|原因|왜|이유',
)

export const UNREAD = words(
  'still (?:being )?(?:read|processed|waiting|in progress)|being (?:read|processed)|not (?:been )?read yet|not yet (?:been )?read|(?:still )?waiting to be read|in the queue|queued|noch nicht gelesen|noch (?:in arbeit|gelesen)|noch werden gelesen|en cours de lecture|pas encore lue?s?|aún no leíd[oa]s?|non ancora lett[oi]|nog niet gelezen|ещё не прочитан\\p{L}*|еще не прочитан\\p{L}*',
)

/** By media type: the words that name files of it. */
const WORKBOOK_WORDS = wordsOrParts(
  [
    String.raw`excel ?(?:(?:tabellen?|dateien?|dokumente?n?|mappen?|files?|sheets?|workbooks?|spreadsheets?|tables?|bestand(?:en)?|filer|ark)(?![\p{L}\p{N}]))?|spread ?sheets?|work ?books?|xlsx? ?dateien?|tabellenkalkulation\p{L}*|arbeitsmappen?|tableurs?|classeurs?|feuilles? de calcul|hojas? de cálculo|planillas?(?: de cálculo)?|libros? de excel|fogli?o? (?:di calcolo|elettronic[io])|folhas? de (?:cálculo|excel)|planilhas?|reken ?blad\p{L}*|spreadsheets|электронн\p{L}+ таблиц\p{L}*|эксел\p{L}*|kalkylblad|kalkylark|regneark\p{L}*|arkusz\p{L}*(?: kalkulacyjn\p{L}*| excel\p{L}*)?|e ?tablo\p{L}*|hesap tablo\p{L}*|إكسل|اكسل|إكسيل|اكسيل|جداول بيانات`,
  ],
  'スプレッドシート|エクセル|表計算|电子表格|電子表格|工作簿|표 ?계산|스프레드시트|엑셀',
)

const IMAGE_WORDS = wordsOrParts(
  [
    String.raw`images?|pictures?|photos?|photographs?|image files?|bild(?:er|ern|dateien?)?|fotos?|imágen(?:es)?|imagen|immagin[ei]|imagem|imagens|afbeelding(?:en)?|plaatjes?|изображени\p{L}*|картин\p{L}*|фото\p{L}*|bilder|billed(?:er)?|zdjęci\p{L}*|obraz\p{L}*|resim\p{L}*|görsel\p{L}*|fotoğraf\p{L}*|صور|صورة|الصور`,
  ],
  '画像|写真|图片|照片|圖片|이미지|사진|그림',
)

const TEXT_FILE_WORDS = wordsOrParts(
  [
    String.raw`(?:plain )?text (?:files?|documents?)|plain text|textdateien?|fichiers? texte|fichiers? de texte|archivos? de texto|file di testo|arquivos? de texto|ficheiros? de texto|tekst ?bestand(?:en)?|текстов\p{L}+|textfil(?:er)?|tekstfil(?:er)?|plik\p{L}* tekstow\p{L}*|metin dosya\p{L}*|ملفات نصية`,
  ],
  'テキストファイル|文本文件|텍스트 ?파일',
)

const EXTENSION = (extension: string) => words(String.raw`(?:dot )?${extension}s?(?: (?:dateien?|files?))?`)

/** The most specific names first; an extension means it alone. */
export const TYPE_WORDS: readonly { readonly pattern: RegExp; readonly extensions: readonly string[] }[] = [
  { pattern: WORKBOOK_WORDS, extensions: ['xls', 'xlsx'] },
  { pattern: TEXT_FILE_WORDS, extensions: ['txt'] },
  { pattern: EXTENSION('docx'), extensions: ['docx'] },
  { pattern: EXTENSION('xlsx'), extensions: ['xlsx'] },
  { pattern: EXTENSION('xls'), extensions: ['xls'] },
  { pattern: EXTENSION('txt'), extensions: ['txt'] },
  { pattern: words('jpe?gs?(?: (?:dateien?|files?))?'), extensions: ['jpg', 'jpeg'] },
  { pattern: EXTENSION('png'), extensions: ['png'] },
  {
    pattern: words(String.raw`pdf ?(?:s|ler|lerim|dateien?|dokumente?n?|files?|bestand(?:en)?|filer|ów|y|ки|ok)?`),
    extensions: ['pdf'],
  },
  {
    pattern: wordsOrParts(
      [
        String.raw`(?:ms|microsoft) word|(?:ms |microsoft )?word ?(?:dateien?|dokumente?n?|documents?|files?|format\p{L}*|bestand(?:en)?|filer)|(?:documents?|fichiers?|archivos?|documentos?|file|arquivos?|документ\p{L}*|файл\p{L}*) word|вордовск\p{L}*`,
      ],
      'ワード|워드',
    ),
    extensions: ['doc', 'docx'],
  },
  { pattern: IMAGE_WORDS, extensions: ['jpg', 'jpeg', 'png'] },
]

/** "tables", where a word before it has said of which program. */
export const TABLES = wordsOrParts(
  [
    'tables?|tabellen?|tableaux?|tablas?|tabelle|tabelas?|таблиц\\p{L}*|tabeller|tabel\\p{L}*|tablo\\p{L}*|جداول|sheets?',
  ],
  '表格|表|테이블|シート',
)

export const SCANNED = wordsOrParts(
  [
    String.raw`scans?|scanned|eingescannt\p{L}*|gescannt\p{L}*|numérisée?s?|scannée?s?|escanead[oa]s?|scansionat[oaie]|scannerizzat[oaie]|digitalizad[oa]s?|gescand\p{L}*|сканы|отсканирован\p{L}*|skannad\p{L}*|skannede?|zeskanowan\p{L}*|taranmış|taranan|ممسوحة(?: ضوئيا)?`,
  ],
  'スキャン(?:した|された)?|扫描(?:的|件)?|掃描|스캔(?:한|된)?',
)

export const DOCUMENT_NOUN = wordsOrParts(
  [
    'documents?|files?|docs?|uploads?|dokumente?n?s?|datei(?:en)?|unterlagen|fichiers?|archivos?|documentos?|ficheros?|document[oi]|file|archivi|arquivos?|ficheiros?|documenten|bestand(?:en)?|stukken',
    String.raw`документ\p{L}*|файл\p{L}*|dokument(?:er|et|ene|erne|en)?|fil(?:er|en|erna|ene|erne)|plik\p{L}*|dokument\p{L}{0,3}|belge\p{L}*|dosya\p{L}*|doküman\p{L}*`,
    String.raw`(?:ال)?(?:مستند|مستندات|وثيقة|وثائق|ملف|ملفات|ملفا|مستندا)|[بوف](?:ال)?(?:مستندات|وثائق|ملفات)`,
  ],
  '文書|書類|ファイル|ドキュメント|資料|文件|文档|文檔|档案|檔案|资料|문서|파일|자료',
)

export const PAGES = wordsOrParts(
  [
    'pages?|seiten?(?:zahl)?|páginas?|pagine?|paginas?|pagina s|страниц\\p{L}*|sid(?:or|an|er)|stron\\p{L}*|sayfa\\p{L}*|صفحات|صفحة|الصفحات',
  ],
  'ページ|页|頁|페이지|쪽',
)

export const SIZE = words(
  'how (?:big|large)|(?:what|which) size|size|file size|wie groß|größe|quelle taille|taille|tamaño|dimension[ei]|tamanho|hoe groot|grootte|размер|hur stor\\p{L}*|hvor stor\\p{L}*|storlek|størrelse',
)

/** The library by its name. */
export const LIBRARY = wordsOrParts(
  [
    '(?:(?:in|to|into|of|from) )?(?:my |the |this |our |your )?(?:document )?(?:library|libraries|alcove)|(?:(?:in|aus) )?(?:meine[r]? |unsere[r]? |der |die |diese[r]? )?bibliothek|(?:dans )?(?:ma |la |notre )?bibliothèque|(?:(?:en|na|nella|in) )?(?:mi |la |mia |minha )?biblioteca|(?:in )?(?:mijn |de )?bibliotheek|(?:в )?(?:моей )?библиотек\\p{L}*|biblioteket(?: mitt)?|(?:mitt )?bibliotek|(?:w )?(?:mojej )?bibliote(?:ce|ka|ki)|kütüphane\\p{L}*|(?:في )?(?:مكتبتي|المكتبة)',
  ],
  'ライブラリ(?:ー)?|文件库|资料库|库(?:里|中)|라이브러리',
)

/** The library of documents and not a building: "my library". */
export const OWN_LIBRARY = wordsOrParts(
  [
    'alcove|document library|(?:my|this|our|your) (?:document )?library|(?:meine|diese|unsere|deine|ihre)[rn]? bibliothek|(?:ma|notre|cette|ta|votre) bibliothèque|(?:mi|nuestra|esta|tu|mia|nostra|questa|tua|minha|nossa|sua) biblioteca|(?:mijn|onze|deze|je|uw) bibliotheek|(?:мо\\p{L}+|наш\\p{L}+|эт\\p{L}+) библиотек\\p{L}*|biblioteket mitt|mitt bibliotek|moj\\p{L}+ bibliote\\p{L}+|kütüphanem\\p{L}*|مكتبتي',
  ],
  'ライブラリ(?:ー)?|文件库|资料库|库(?:里|中)|라이브러리',
)

/** A possession, or a place in which only the person's own documents are. */
export const OWN = wordsOrParts(
  [
    'my|mine|(?:do|have|did) i(?: already| currently| now)?(?: have| got)?|(?:that |which )?i (?:already )?(?:have|own|got)|(?:in|to|into|of|from) (?:my|the|this|our|your) (?:collection|workspace|account)|(?:are|is) there|there (?:are|is)|do you (?:have|know|see)(?: of)?|can you (?:see|read|access|search|find)|you (?:have|know)|in total|stored|altogether|our|do we have|we have',
    'meine[rnsm]?|mein|hab(?:e)? ich|ich (?:habe|besitze)|besitze ich|(?:in|aus) (?:meiner|der|dieser) sammlung|gibt es|es gibt|insgesamt|hast du|kennst du|siehst du|unsere[rn]?|haben wir|vorhanden|gespeichert|liegen',
    'mes|mon|ma|miens?|ai je|j ai|est ce que j ai|y a t il|il y a|nos|avons nous|possède|as tu|au total',
    'mis|mi|mío?s|tengo|hay|en total|nuestros|tenemos|tienes|poseo',
    'miei|mio|mie|mia|ho|ci sono|c è|(?:nella )?(?:mia )?raccolta|in totale|abbiamo|hai|possiedo',
    'meus|meu|minhas|minha|tenho|eu tenho|há|existem|no total|temos|possuo|tens',
    'mijn|heb ik|ik heb|zijn er|er zijn|is er|in totaal|hebben we|heb je|totaal',
    'мои|моих|моей|мой|моя|мне|моими|у меня|имеется|имеются|есть ли|всего|наши|у нас',
    'mina|min|mitt|mine|har jag|jag har|har jeg|jeg har|finns det|finns|finnes det|finnes|fins det|er der|der er|findes(?: der)?|mitt|mit|totalt|i alt|har vi|sammenlagt',
    'moje|mój|moich|mam|mamy|jest|są|czy mam|łącznie|w sumie',
    'benim|dosyalarım\\p{L}*|belgelerim\\p{L}*|var|var mı|bende|toplam|toplamda',
    'لدي|عندي|هل لدي|يوجد|توجد|هناك|لدينا|(?:[بوف])?(?:ملفاتي|مستنداتي|وثائقي)|إجمالا|معي',
  ],
  'ありますか|あります|ある|持っている|持っています|持ってる|私の|わたしの|自分の|我有|我的|我们的|有没有|是否有|一共有?|总共有?|共有|有|내가|나의|내|제가|제|저의|가지고 ?있\\S*|갖고 ?있\\S*|있나요|있습니까|있어요|있는지|있는|있지',
)

export const COUNT = wordsOrParts(
  [
    'how many|(?:total |overall )?number of|what number of|(?:total )?count(?: of)?|wie ?viele?|anzahl|wieviel|combien(?: d)?|(?:quel )?nombre|cuánt[oa]s|cuantos|número|quant[iea]|numero|quant[oa]s|hoe ?veel|aantal|сколько|количество|число|hur många|antal|antalet|hvor mange|antall|antallet|ile|liczba|ilość|kaç(?: tane)?|sayısı|كم(?: عدد)?|عدد|ما عدد',
  ],
  'いくつ|何(?:件|個|本|枚|冊|つ|点|通|部)|いくら|件数|総数|何ファイル|何(?=ページ)|多少(?:个|份|篇|页|頁)?|几(?:个|份|篇|张|页)?|幾(?:個|份)?|数量|몇 ?(?:개|건|장|부|권|편)?|얼마나|개수|갯수',
)

/** Asks for documents one by one. */
export const WHICH = wordsOrParts(
  [
    'which(?: ones?)?|list(?: of)?|(?<=^(?:please |and |can you |could you )*)name|enumerate|show(?: me)?|give me|tell me|welche[rsmn]?|nenne?|liste|zeige?|zeig mir|gib mir|zähle|auflisten|auf|quels?|quelles?|lesquel(?:le)?s|lequel|laquelle|listez?|montrez?|énumérez?|donnez?|cuál(?:es)?|cuales|lista(?:r|me)?|muestra(?:me)?|muéstrame|enumera|dime|dame|quali?|elenca(?:mi)?|mostra(?:mi)?|elenco|lista|qua(?:l|is)|liste|mostre|enumere|welke?|lijst|noem|geef|toon|как(?:ие|ой|ая|ое|их)|которы[ех]|перечисли(?:те)?|покажи(?:те)?|назови(?:те)?|список|vilk(?:a|en|et)|visa|hvilke[nt]?|vis|jakie|jaki|jaka|które|który|która|wymień|pokaż|wypisz|hangi(?:leri|si)?|listele|göster|أي|أية|اذكر|اعرض|قائمة',
  ],
  'どの|どれ|どちら|一覧|リスト|挙げて|見せて|教えて|哪些|哪个|哪份|哪几(?:个|份)?|列出|显示|有哪|哪|어떤|어느|목록|나열\\S*|보여\\S*|알려\\S*',
)

export const WHAT = wordsOrParts(
  ['what(?: s)?|was|qu(?:e|oi)?|qué|que|che(?: cosa)?|cosa|o que|wat|что|vad|hva|hvad|co|ne|ما|ماذا|هي'],
  '何|什么|什麼|무엇\\S*|무슨|뭐\\S*|뭔\\S*',
)

export const ADDED = wordsOrParts(
  [
    'added|add|uploaded|upload|imported|import|i (?:have )?(?:recently )?(?:added|uploaded|imported)|(?:were|was|been|got) (?:added|uploaded|imported)',
    'hinzugefügt\\p{L}*|hochgeladen\\p{L}*|hinzu|füge?te?|lud|importiert\\p{L}*|dazugekommen|hochladen|hinzufügen',
    'ajoutée?s?|téléchargée?s?|téléversée?s?|importée?s?|chargée?s?|mise?s? en ligne',
    'añadí|añadid[oa]s?|agregu?é|agregad[oa]s?|subí|subid[oa]s?|cargu?é|cargad[oa]s?|importad[oa]s?',
    'aggiunt[oaie]|caricat[oaie]|importat[oaie]',
    'adicion(?:ei|ad[oa]s?)|carregu?ei|carregad[oa]s?|envi(?:ei|ad[oa]s?)|importad[oa]s?',
    'toegevoegd\\p{L}*|geüpload\\p{L}*|geupload\\p{L}*|geïmporteerd',
    'добав\\p{L}+|загру(?:з|ж)\\p{L}+',
    'lade (?:jag )?(?:till|upp)|lagt till|laddade?(?: jag)?(?: upp)?|tillagd\\p{L}*|uppladd\\p{L}*|laddat upp|la jeg (?:til|inn)|lastet (?:jeg )?opp|lagt (?:til|inn)|tilføj\\p{L}*|uploaded\\p{L}*|uploadet',
    'doda\\p{L}+|przesła\\p{L}+|wgra\\p{L}+|ekle\\p{L}+|yükle\\p{L}+',
    'أضفت|أضفتها|أضفته|رفعت|رفعتها|حملت|حملتها|المضافة|أضيفت|تم (?:رفعها|تحميلها)|تمت إضافتها',
  ],
  '追加(?:した|しました|された|されました)?|アップロード(?:した|しました|された)?|登録(?:した|しました)?|上传(?:了|的|过)?|上傳(?:了|的)?|添加(?:了|的)?|新增(?:了|的)?|加入(?:了|的)?|导入(?:了|的)?|추가\\S*|업로드\\S*|올린|올렸\\S*',
)

export const NEW = wordsOrParts(
  [
    'new|neu|neue[nrs]?|nouveaux?|nouvelles?|nuev[oa]s?|nuov[oaie]|nov[oa]s?|nieuwe?|нов(?:ые|ых|ый|ое)|nya|nye|now[eay]|yeni|الجديدة|جديدة',
  ],
  '新しい|새로운|새로',
)

/** Without a word for documents, only an upload, or what the person added, is one of documents. */
export const ADDED_BY_PERSON = wordsOrParts(
  [
    'i|we|ich|wir|je|j|nous|yo|nosotros|eu|nós|ik|wij|я|мы|jag|jeg|vi|(?:ho|abbiamo) \\p{L}+|(?:he|hemos) (?:añadido|agregado|subido|cargado|importado)|añadí|agregué|subí|cargué|adicionei|carreguei|enviei|(?:doda|wgra|przesła)ł[ae]m|(?:ekle|yükle)di[mk]|أضفت|أضفتها|أضفته|رفعت|رفعتها|حملت|حملتها',
    'uploaded|hochgeladen\\p{L}*|téléversée?s?|geüpload\\p{L}*|geupload\\p{L}*|uppladd\\p{L}*|laddats? upp|lastet opp|uploadet',
  ],
  'アップロード|上传|上傳|업로드|私が|我|내가|제가',
)

/** Points at the documents of the question before. */
export const POINTING = wordsOrParts(
  [
    '(?:which|the) ones?|them|they|those|davon|darunter|von (?:ihnen|denen|diesen)|eux|elles|parmi|lesquels|lesquelles|ellos|ellas|de (?:esos|esas|estos|estas)|de (?:quelli|quelle|questi|queste)|di (?:quelli|quelle|questi|queste|essi)|tra (?:essi|loro|questi)|deles|delas|destes|desses|ervan|daarvan|van (?:hen|deze)|из (?:них|этих)|них|их|av (?:dem|dessa|dem)|af dem|z nich|nich|bunlar\\p{L}*|onlar\\p{L}*|hangileri|منها|منهم',
    '^(?:and |und |et |y |e |en )?(?:which|welche|cuáles|quali|quais|welke)$',
  ],
  'これら|それら|そのうち|その中|其中|这些|那些|그 ?중|이 ?중',
)

export const WHEN = wordsOrParts(
  ['when|on what (?:day|date)|wann|quand|cuándo|quando|wanneer|когда|när|når|hvornår|kiedy|ne zaman|متى'],
  'いつ|什么时候|何时|什麼時候|언제',
)

export type LibraryOrder = 'newest' | 'oldest' | 'largest' | 'smallest' | 'longest' | 'shortest'

/** The more specific ones first: "most recent" before "last". */
export const ORDER_WORDS: readonly (readonly [order: LibraryOrder, pattern: RegExp])[] = [
  [
    'longest',
    wordsOrParts(
      [
        'longest|(?:the )?most pages|längste[nrsm]?|(?:die )?meisten seiten|plus longs?|plus longues?|le plus de pages|más larg[oa]s?|más páginas|più lung\\p{L}+|più pagine|mais long[oa]s?|mais extens[oa]s?|mais páginas|langste|meeste paginas?|сам\\p{L}+ длинн\\p{L}+|больше всего страниц|längsta|lengste|længste|flest sid(?:or|er)|najdłuższ\\p{L}+|en uzun|أطول|الأطول',
      ],
      '(?:一番|最も)長い|最長の?|最长的?|가장 긴',
    ),
  ],
  [
    'shortest',
    wordsOrParts(
      [
        'shortest|fewest pages|kürzeste[nrsm]?|plus courte?s?|más cort[oa]s?|più cort[oaie]|più brev[ei]|mais curt[oa]s?|kortste|сам\\p{L}+ коротк\\p{L}+|kortaste|korteste|najkrótsz\\p{L}+|en kısa|أقصر|الأقصر',
      ],
      '(?:一番|最も)短い|最短の?|最短的?|가장 짧은',
    ),
  ],
  [
    'largest',
    wordsOrParts(
      [
        'biggest|largest|größte[nrsm]?|plus gros(?:se)?s?|plus grande?s?|plus volumineux|plus lourds?|más grandes?|mayor(?:es)?|más pesad[oa]s?|più grand[ei]|più pesant[ei]|maior(?:es)?|mais pesad[oa]s?|grootste|сам\\p{L}+ больш\\p{L}+|крупнейш\\p{L}+|största|største|największ\\p{L}+|en büyük|أكبر|الأكبر',
      ],
      '(?:一番|最も)大きい|最大(?:の|的)?|가장 큰',
    ),
  ],
  [
    'smallest',
    wordsOrParts(
      [
        'smallest|kleinste[nrsm]?|plus petite?s?|más pequeñ[oa]s?|menor(?:es)?|più piccol[oaie]|menor(?:es)?|kleinste|сам\\p{L}+ маленьк\\p{L}+|minsta|minste|mindste|najmniejsz\\p{L}+|en küçük|أصغر|الأصغر',
      ],
      '(?:一番|最も)小さい|最小(?:の|的)?|가장 작은',
    ),
  ],
  [
    'oldest',
    wordsOrParts(
      [
        'oldest|älteste[nrsm]?|plus ancien(?:ne)?s?|plus vieux|plus vieille|más antigu[oa]s?|más viej[oa]s?|più vecchi[oaie]?|più antic\\p{L}+|mais antig[oa]s?|oudste|сам\\p{L}+ стар\\p{L}+|äldsta|eldste|ældste|najstarsz\\p{L}+|en eski|أقدم|الأقدم',
      ],
      '(?:一番|最も)古い|最古の?|最早(?:的)?|最旧的?|가장 오래된',
    ),
  ],
  [
    'newest',
    wordsOrParts(
      [
        'newest|latest|(?:most )?recent(?:ly)?|last|neue?ste[nrsm]?|jüngste[nrsm]?|aktuellste[nrsm]?|zuletzt|letzte[nrsm]?|kürzlich|plus récente?s?|récente?s?|récemment|derni(?:er|ère)s?|en dernier|más recientes?|recientes?|recientemente|últim[oa]s?|más nuev[oa]s?|più recent[ei]|recent[ei]|recentemente|ultim[oaie]|mais recentes?|recentes?|recentemente|mais nov[oa]s?|nieuwste|laatste|laatst|(?:meest )?recente?|recentste|сам\\p{L}+ нов\\p{L}+|новейш\\p{L}+|последн\\p{L}+|недавно|nyaste|senaste|senast|nyligen|nyeste|siste|sist|seneste|senest|sidste?|nylig|najnowsz\\p{L}+|ostatni\\p{L}*|en yeni|en son|sonuncu|أحدث|الأحدث|آخر|مؤخرا',
      ],
      '(?:一番|最も)新しい|最新(?:の|的)?|最近(?:の|的)?|最後(?:に|の)?|最后(?:一个|的)?|가장 최근\\S*|최근에?|최신|가장 새로운|마지막(?:으로)?',
    ),
  ],
]

/** How many are wanted, in words. */
export const NUMBER_WORDS: readonly (readonly [count: number, pattern: RegExp])[] = [
  [2, words('two|zwei|deux|dos|due|dois|duas|twee|два|två|to|dwa|iki')],
  [3, words('three|drei|trois|tres|tre|três|drie|три|trzy|üç')],
  [4, words('four|vier|quatre|cuatro|quattro|quatro|четыре|fyra|fire')],
  [5, words('five|fünf|cinq|cinco|cinque|vijf|пять|fem|pięć|beş')],
  [10, words('ten|zehn|dix|diez|dieci|dez|tien|десять|tio|ti|dziesięć|on')],
]

/** Documents that have to be handed in or may be, and not those that are there. */
export const MODAL = words(
  '(?:have|has|had|got|is|are|was|were) to|(?:can|could|may|might|would|will|shall) (?:i|we|one|they|be)',
)

/** Words that say nothing about which documents are meant. */
const FILLER_WORDS = `
  a an the of in on is are was were be been do does did done i you me have has had it its they them these those this that all any some
  please and or to for with from by at as so far now right currently total kind kinds type types format formats language languages written
  one ones exactly overall different ever just only still yet can could would also too named called titled entitled s m re ve already
  file both each other every here
  der die das den dem des ein eine einen einer eines ich mir mich du sie ist sind war waren wurde wurden werden wird worden habe hab hast haben es
  davon von in im auf aus an am und oder alle allen aller bitte denn eigentlich bisher derzeit gerade gibt da hier sprache geschrieben
  verfasst genau überhaupt schon als format typ art arten dir nur so ihnen jemals namens genannt heißt mit
  le la les l de d des du un une je j ai as tu a ont sont est été dans sur et ou tous toutes tout c ce cela il elle ils elles y en aux au que
  qu moi me rédigés rédigées écrits écrites parmi s se t format type sorte sortes langue eux avec être en
  el los las una del y o son es está están fue fueron han ha he yo se todos todas por favor idioma escritos escritas formato tipo tipos al lo
  entre ellos de en un la cuál
  lo gli i dei degli delle della nel nella nelle su e è sono stato stati state stata mi si tutti tutte per favore lingua scritti scritte formato
  tipo tipi al a con di il quella
  os as um uma do da dos das no na nos nas em foram foi eu escritos escritas ao por deles são é estão tipo tipos
  het een van op er zijn was waren werd werden wordt worden heeft heb ik je of alle taal geschreven formaat type soort soorten die dat te daarvan
  momenteel graag
  в во на и или у меня я есть ли из с со по все всего всех это этих эти были был была было языке язык языком написаны написан написано
  имеется формате типа пожалуйста сейчас них мне какого
  jag mig det som i på och eller av alla är var har skrivna skriven skrivet språk format typ vänligen de den ett en jeg meg mig er var ble blev
  skrevet sprog språk av alle disse dem dere du deres hos med om
  og mi we w na i z ze czy się wszystkie wszystkich jest języku formacie typu napisane napisany po proszę do
  ve bu bütün tüm dilinde yazılmış olan mi mı mu dili tane dir
  من في هي هو على التي الذي كل جميع و إلى هل مكتوبة المكتوبة لغة بلغة نوع صيغة بصيغة باللغة اللغة ها كانت كان تكون هذه منها قمت
`
const FILLERS: ReadonlySet<string> = new Set(FILLER_WORDS.trim().split(/\s+/))

const UNSPACED_FILLERS =
  /^(?:です|ます|ますか|でしょうか|ください|下さい|下記|書かれた|書かれている|書かれています|書かれたもの|もの|して|した|しました|いる|います|いますか|全部|すべて|全て|ぜんぶ|私|中で|中に|うち|形式|種類|という名前|という|名前|これら|ので|から|まで|いちばん|[のはがをにでもとやかへよね]|我|你|您|请|給|给|是|的|了|在|吗|嗎|呢|里|裡|中|把|被|这些|那些|些|个|份|一共|总共|总|目前|现在|其中|写成|写的|写|书写|用|以|语言|格式|类型|种类|所有|全部|都|和|并|以及|还|上|过|今|那|所|为|哪|分别|은|는|이|가|을|를|의|에|에서|중|중에서?|으로|로|된|한|것|들|들은|들이|들을|들의|들중|작성된|쓰인|쓰여|적힌|입니까|인가요|이며|이고|모두|총|전체|전부|주세요|그리고|그|되나요|나요|까요|합니까|했나요|니까|습니까|요|[과와도만은])+$/u

/** Whether words that no other pattern took are all fillers. */
export const areFillers = (rest: string): boolean =>
  rest.split(' ').every((word) => word === '' || FILLERS.has(word) || /^\d+$/.test(word) || UNSPACED_FILLERS.test(word))

/** Joins what a question is about to the documents: "documents about X". The head before it must hold nothing else. */
export const ABOUT = words(
  '(?:that |which )?(?:are |is |have |has )?(?:all )?(?:about|(?<!(?:are|is|were|was) (?:all )?)on|regarding|concerning|covering|related to|relating to|dealing with)(?: the (?:subject|topic)(?: of)?)?',
  '(?:that |which )?(?:mention(?:s|ed|ing)?|contain(?:s|ing)?|include|includes|discuss(?:es|ing)?|covers?|refers? to|deals? with|talks? about|speaks? (?:of|about)|says? (?:something|anything) (?:about|on)|describes?|explains?|(?:have|has) (?:something|anything|information) (?:about|on)|with (?:information|something) (?:about|on))(?: (?:information (?:about|on)|(?:the )?(?:words?|terms?|phrase|name|subject|topic)(?: of)?))?',
  '(?:die |welche )?(?:über|zum thema|rund um|handeln (?:von|über)|handelt (?:von|über)|erwähnen|erwähnt|behandeln|behandelt|enthalten|enthält|betreffen|betrifft|sprechen (?:von|über)|beschreiben|beschreibt|geht es um|gehen um|befassen sich mit|beschäftigen sich mit)(?: (?:das (?:wort|thema)|den begriff|informationen (?:über|zu[mr]?)))?',
  '(?:qui )?(?:(?<!(?:est|sont|étaient|était) )sur|à propos d[eu]s?|au sujet d[eu]s?|concernant|concernent|parlent? d[eu]s?|mentionnent?|traitent? d[eu]s?|contiennent|contient|évoquent?|portent sur|relatifs? (?:à|au|aux))(?: (?:le mot|les mots|le terme))?',
  '(?:que )?(?:(?<!(?:está|están|estaba|estaban|estão|estava|estavam) )sobre|acerca de(?:l)?|mencionan?|tratan? (?:del?|sobre)|hablan? (?:del?|sobre)|contienen?|relacionad[oa]s con|relativ[oa]s a)(?: (?:la palabra|el término))?',
  '(?:che )?(?:(?<!(?:è|sono|era|erano) )su(?:l|lla|llo|i|gli|lle)?|riguardo(?: a(?:l|lla)?)?|parlano d(?:i|el|ella|egli|elle|ei)|parla d(?:i|el|ella)|trattano(?: d(?:i|el|ella))?|tratta(?: di)?|menzionano|menziona|contengono|contiene|riguardano|relativi a(?:l|lla)?)(?: la parola)?',
  '(?:que )?(?:(?<!(?:está|están|estaba|estaban|estão|estava|estavam) )sobre|acerca d[eoa]|mencionam?|tratam? d[eoa]s?|falam? (?:d[eoa]s?|sobre)|contêm|contém|referem)(?: a palavra)?',
  '(?:die )?(?:over|gaan over|gaat over|noemen|noemt|vermelden|vermeldt|bevatten|bevat|betreffende|handelen over)(?: het woord)?',
  '(?:которые )?(?:о|об|про|посвящены|упомина(?:ют|ет|ется|ются)|говорится (?:о|об)|говорят (?:о|об)|касаются|содержат|содержит|рассказывают (?:о|об))(?: слово)?',
  '(?:som )?(?:om|handlar om|handler om|nämner|nevner|nævner|innehåller|inneholder|indeholder|angående|vedrørende)(?: ordet)?',
  '(?:które )?(?:o|na temat|dotyczą(?:ce)?|mówią o|wspominają(?: o)?|zawierają)(?: słowo)?',
  '(?:التي )?(?:عن|حول|بخصوص|تتحدث عن|يتحدث عن|تذكر|يذكر|تتناول|يتناول|تحتوي على|تتعلق ب)(?: كلمة)?',
)

/** Verbs of one document. After several documents another noun is what they agree with: "Quels documents contient le dossier". */
export const VERB_OF_ONE = words(
  'enthält|erwähnt|behandelt|betrifft|beschreibt|handelt',
  'contient|mentionne|traite|parle|évoque|concerne',
  'contiene|menciona|trata|habla|menziona|parla|tratta',
  'contém|fala',
  'bevat|vermeldt|noemt|gaat',
  'содержит|упоминает',
)
/** A subject in the nominative after such a verb: "Welches Dokument enthält der Antrag". */
export const NOMINATIVE = /^ ?(?:der|dieser|jeder|mein|unser|ich|man|er|wir) /u
export const WHICH_ONE_OF =
  /^(?:in )?(?:welche[sr]|lequel|laquelle|cuál|quale?|qual|which one) (?:der|meiner|dieser|de|of|di|dei|dos) /u

/** Chinese, Japanese, Korean and Turkish, each with the subject in a group. */
export const ABOUT_UNSPACED: readonly RegExp[] = [
  /^(?:どの(?:文書|書類|ファイル|ドキュメント|資料)(?:が|で|に|は))(?<subject>.+?)(?:について|に関して|に言及|が言及|を扱|を含|に触れ|が出て|が載)(?:.*)$/u,
  /^(?<subject>.+?)(?:に関する|についての|に関して(?:の)?|について(?:書かれた|述べた|書いてある|書かれている|の)?|を扱う|を扱った|を含む|に言及(?:する|している|した)|に触れ(?:る|ている)|が出てくる|が載っている)(?<head>(?:の)?(?:文書|書類|ファイル|ドキュメント|資料).*)$/u,
  /^(?<head>(?:我的|我)?(?:有)?(?:哪些|哪个|哪份|哪几个|多少(?:个|份)?|列出(?:所有)?)?(?:我的)?(?:文件|文档|文檔|资料|资料)(?:中|里)?)(?:是)?(?:关于|關於|提到了?|提及了?|涉及|包含|讲到?|談到|谈到了?|有关)(?<subject>.+?)(?:的)?(?:吗|嗎)?$/u,
  /^(?:我)?(?:有没有|有|是否有)?(?:关于|關於|有关|提到|涉及|包含)(?<subject>.+?)的(?<head>(?:文件|文档|文檔|资料).*)$/u,
  /^(?:어떤|어느)?\s*(?<subject>.+?)(?:에 관한|에 대한|에 대해(?:서)? (?:다루는|쓴|말하는)|에 관해|(?:을|를) (?:다루는|언급하는|언급한|포함하는|포함한)|(?:이|가) (?:언급된|포함된|나오는))\s*(?<head>(?:문서|파일|자료).*)$/u,
  /^(?:어떤|어느) (?<head>문서|파일|자료)(?:에서|가|이|들이)? (?<subject>.+?)(?:에 대해|에 관해|을 언급|를 언급|을 다루|를 다루).*$/u,
  /^(?<subject>.+?) (?:hakkında(?:ki)?|ile ilgili) (?<head>.*)$/u,
]

/** "in which documents is X mentioned" */
export const MENTIONED_IN: readonly RegExp[] = [
  /^(?<head>in (?:which|what|how many)(?: of (?:my|the))? \p{L}+) (?:is|are|was|were|does|do|did) (?<subject>.+?) (?:mentioned|named|discussed|described|covered|appear|occur|come up|treated|explained)$/u,
  /^(?<head>in (?:welche[nmr]|wie ?vielen)(?: meiner)? \p{L}+) (?:wird|werden|kommt|kommen|ist|steht etwas über|geht es um) (?<subject>.+?)(?: (?:erwähnt|genannt|vor|behandelt|beschrieben|die rede))?$/u,
  /^(?<head>dans quels?(?: de mes)? \p{L}+) (?:est ce que |parle t on d[eu] |est il question d[eu] |est mentionnée? |apparaît )(?<subject>.+?)(?: (?:apparaît|est mentionnée?))?$/u,
  /^(?<head>en (?:qué|cuáles de mis) \p{L}+) (?:se menciona|se habla d[eo]l?|aparece|se trata) (?<subject>.+)$/u,
  /^(?<head>in quali(?: dei miei)? \p{L}+) (?:si parla d\p{L}+|viene menzionat[oa]|compare|si menziona) (?<subject>.+)$/u,
  /^(?<head>em qua(?:is|l)(?: dos meus)? \p{L}+) (?:se fala d\p{L}+|é mencionad[oa]|aparece) (?<subject>.+)$/u,
  /^(?<head>in welke(?: van mijn)? \p{L}+) (?:wordt|worden|komt|komen|staat|gaat het over) (?<subject>.+?)(?: (?:genoemd|vermeld|voor|behandeld|beschreven))?$/u,
  /^(?<head>в каких(?: из моих)? \p{L}+) (?:упоминается|упоминаются|говорится (?:о|об)|есть|встречается) (?<subject>.+)$/u,
]

/** "a file called X" */
export const NAMED = words(
  '(?:that is |which is )?(?:named|called|titled|entitled)|(?:with|by) the (?:name|title)(?: of)?',
  'mit (?:dem )?(?:namen|titel)|namens|genannt|heißt',
  '(?:qui )?(?:nommée?s?|appelée?s?|intitulée?s?|s appelle|du nom d[eu])',
  '(?:que se )?(?:llamad[oa]s?|titulad[oa]s?|se llama|con el nombre)',
  '(?:che si )?(?:chiamat[oaie]|intitolat[oaie]|si chiama|di nome)',
  '(?:que se )?(?:chamad[oa]s?|intitulad[oa]s?|se chama|com o nome)',
  'met de (?:naam|titel)|genaamd|genoemd|heet',
  '(?:под )?(?:названием|именем|называется)',
  '(?:med )?(?:som heter|med namnet|med navnet|kallad|kalt|kaldet|der hedder|ved navn)',
  '(?:o )?(?:nazwie|nazwany|zatytułowany)',
  '(?:باسم|اسمه|اسمها|بعنوان)',
)

export const NAMED_UNSPACED: readonly RegExp[] = [
  /^(?<name>.+?)(?:という(?:名前の)?|って名前の?)(?<head>(?:文書|書類|ファイル|ドキュメント).*)$/u,
  /^(?<head>.*?(?:文件|文档|文檔)?)(?:名为|叫做|名叫|叫)(?<name>.+?)(?:的(?:文件|文档|文檔))(?:吗|嗎)?$/u,
  /^(?<name>.+?)(?:이라는|라는|이란)(?: 이름의)? (?<head>(?:문서|파일).*)$/u,
  /^(?<name>.+?) (?:adlı|isimli|adında) (?<head>.*)$/u,
]
