/** "Tell" and its stems are rare in documents, and would outweigh the subject. */
const ENGLISH_TELL_ME =
  /^\W*(?:please\W+|(?:can|could|would|will) you (?:please )?)?tell (?:me|us)(?: more)?(?: about)?\b/i

/** No answer repeats these: "how long is the notice period" is answered by "three months". */
const ENGLISH_SIZE =
  /\bhow (?:big|deep|far|fast|heavy|high|large|late|long|many|much|often|old|tall|thick|wide)\b|\bmean\b(?<=\b(?:do|does|did)\b.{1,80})(?=\W*$)/gi
const GERMAN_SIZE =
  /(?<!\p{L})wie ?(?:alt|breit|dick|groß|gross|hoch|lange?|oft|schnell|schwer|spät|teuer|tief|viele?|weit)(?!\p{L})/giu

/** An inverted verb and pronoun ("faut-il", "ont-elles") is not a compound. */
const FRENCH_INVERSION = /(?<=\p{L})(?<!\brendez)-(?:t-)?(?:ils?|elles?|on|je|tu|nous|vous|ce)(?!\p{L})/giu

/** These would add character pairs that no answer holds. */
const CHINESE =
  /请问|請問|(?:是|在|从|從|到)?(?:什么|什麼|甚麼|哪(?:个|個|些|一))(?:时候|時候|时间|時間|地方)?|为什么|為什麼|为何|為何|(?:在)?哪(?:里|裡|儿|兒)|怎(?:么|麼)(?:样|樣)?/gu

/** Endings of a counter that is asked for: 何年間, 何歳ごろ, 何番目. */
const AROUND = '(?:間|目|頃|ごろ|くらい|ぐらい|ほど)?'
const JAPANESE = new RegExp(
  [
    // Parts of other words are left: いつも, 使いつつ, ほどこす, みだれる, などの, けれど, ぶどう.
    '(?<!つ)いつ(?:から|まで|頃|ごろ)?(?![つも]|くしま)',
    '(?<!ほ)どこ(?:から|まで|で(?!す|し)|に)?',
    '(?<![くまみなすよし])だれ|誰|どなた|なぜ|何故',
    '(?<![なほれぶ])(?:どうして|どうやって|どうすれば|どのように|どのような|どう(?=[なしすいで])|ど[れの](?:くらい|ぐらい|ほど|だけ)?)',
    // The roe of salmon has the name of the question for a price.
    'いくら(?=です|でし|か|に|する|しま|[?？\\s]|$)|いくつ|どんな|どちら',
    // "幾何" is geometry.
    `(?<![幾几如任])(?:何という|何(?:[かヶ]国|[年月日時分秒週人名回個本枚歳才度番頭件円代条])${AROUND}|何(?=[かがをでとのにもはだ]))`,
    'なん(?:という|(?=で))',
    '(?:を|について|に関して)?(?:教えて|示して|説明して|述べて)(?:ください|下さい|くれますか|もらえますか|いただけますか|ほしい)?(?=[。！!？?]|\\s*$)',
    'とは(?=[?？]|\\s*$)',
    '(?:です|でした|ます|ました|ません|ませんでした)か|でしょうか?(?=[。？?]|\\s*$)',
  ].join('|'),
  'gu',
)

const PHRASES: readonly (readonly [language: string, pattern: RegExp])[] = [
  ['english', ENGLISH_TELL_ME],
  ['english', ENGLISH_SIZE],
  ['german', GERMAN_SIZE],
  ['french', FRENCH_INVERSION],
]

export const removeQuestionPhrases = (question: string, languages?: readonly string[]): string =>
  PHRASES.filter(([language]) => languages?.includes(language) ?? true).reduce(
    (rest, [, pattern]) => rest.replace(pattern, ' '),
    question.replace(CHINESE, ' ').replace(JAPANESE, ' '),
  )
