/** The most common words of languages in Latin letters, for language detection. Stop words: `stop-words.ts`. */
export const COMMON_WORDS: Readonly<Record<string, string>> = {
  english: 'the of and to in is that for it as was with on be by at this are from which or an have not',
  german:
    'der die und den von das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei',
  french:
    'de la le et les des en un une du que est pour qui dans par au sur pas plus avec ne se sont aux ce il cette ses',
  spanish: 'de la que el en y los se del las un por con no una su para es al lo como más o sus pero fue este entre',
  italian: 'di che la il un a per in una sono del con non della si le da gli dei nel è al come anche alla più lo ha',
  portuguese: 'de a o que e do da em um para com não uma os no se na por mais as dos como mas ao das à foi seu sua são',
  dutch:
    'de van het een en in is dat op te zijn met voor niet aan er om ook als maar dan uit bij door naar nog worden wordt',
  swedish: 'och att det i en som på är av för med den till inte om ett han men var jag sig från vi så kan när',
  norwegian: 'og i det er på til som en å for av at har med de den ikke et om var jeg fra han kan seg skal etter',
  danish: 'og i at det er en til af som på med for de der den ikke et har var fra han jeg kan sig men skal blev',
  finnish: 'ja on ei se että oli hän joka mutta ovat myös kun niin tai sen sekä kuin jos mitä ole ollut vain',
  hungarian: 'a az és hogy nem is egy ez van meg ha csak már de volt mint el vagy azt lehet még ezt ki',
  romanian: 'de și în a la cu o pe care un din nu este mai că pentru să se ce ale sunt prin dar fi au',
  turkish: 've bir bu da de için ile olarak çok daha olan gibi kadar en ne her sonra ise olduğu var mi',
  catalan: 'de la i el que en els a per les un del una amb al és va més com no dels ha es seva són aquest',
  polish: 'i w na z się do nie to że jest o jak po od za przez dla ale tak są co czy ich tym oraz być',
  indonesian:
    'yang dan di untuk dengan dari ini pada itu dalam tidak adalah ke akan oleh juga atau sebagai bisa ada telah',
}
