/** Only lists of the library's languages apply: "die" and "war" are stop words in German alone. */
const STOP_WORDS: Readonly<Record<string, string>> = {
  english:
    'a an and are as at be been but by can could did do does for from had has have how i if in into is it its may me must my of on or our shall should so such than that the their them then there these they this those to upon us was we were what when where which while who whom whose why will with would you your',
  german:
    'der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wird werden wurde wurden hat haben hatte kann können muss müssen soll sollen darf wie was wer wo wann warum welche welchem welchen welcher welches mit von vom zu zum zur im in am an auf für bei aus nach sich nicht auch es er sie man ich wir',
  french:
    'le la les un une des du de et ou est sont a ont été être faut peut peuvent doit doivent que qui quoi quel quelle quels quelles où quand comment pourquoi dans par pour sur avec au aux ce cette ces en il ils elle elles on se sa ses leur leurs je nous vous ne pas plus l d',
  spanish:
    'el la los las un una unos unas y o de del al en por para con que qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas es son fue fueron era ha han hay puede pueden debe deben se su sus lo',
  russian:
    'и в во на с со к о об от по за из у что кто где когда как какой какая какие какое почему сколько был была было были это для не он она они его ее их',
  arabic: 'في من على إلى الى عن مع ما ماذا من هو هي هل كم أين متى كيف لماذا التي الذي كان كانت أن او أو و',
  italian:
    'il lo gli i uno di del della dei delle che chi come quando dove perché quale quali è sono era nel nella con per su da',
  portuguese:
    'o os as um uma do da dos das e ou em no na nos nas por para com que quem qual quais quando onde como foi é são',
  dutch: 'wie wat waar wanneer waarom welke het een van en op te met voor is zijn was',
}

export const STOP_WORD_LANGUAGES: readonly string[] = Object.keys(STOP_WORDS)

const stopWordsOf = new Map(
  Object.entries(STOP_WORDS).map(([language, words]) => [language, new Set(words.split(' '))]),
)

export const isStopWord = (word: string, languages: readonly string[]): boolean =>
  languages.some((language) => stopWordsOf.get(language)?.has(word))

/** One stop word of a further language may be a name, or a word of another language. */
const MIN_STOP_WORDS = 2

export function detectQuestionLanguages(words: readonly string[]): string[] {
  const languages: string[] = []
  let rest = new Set(words)
  for (;;) {
    const [best] = [...stopWordsOf]
      .map(([language, stopWords]) => ({ language, stopWords, count: rest.intersection(stopWords).size }))
      .toSorted((one, other) => other.count - one.count)
    if (!best || best.count < (languages.length === 0 ? 1 : MIN_STOP_WORDS)) return languages
    languages.push(best.language)
    rest = rest.difference(best.stopWords)
  }
}
