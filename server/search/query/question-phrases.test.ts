import { expect, test } from 'vitest'
import { removeQuestionPhrases } from './question-phrases.ts'

const restOf = (question: string) =>
  removeQuestionPhrases(question, ['simple'])
    .replaceAll(/[\s？?。]+/g, ' ')
    .trim()

test.each([
  ['契約の開始日はいつですか？', '契約の開始日は'],
  ['事務所はどこですか', '事務所は'],
  ['どこで生まれましたか', '生まれ'],
  ['責任者は誰でしょうか', '責任者は'],
  ['なぜ閉鎖されたのですか？', '閉鎖されたの'],
  ['支払いはどのように行いますか', '支払いは 行い'],
  ['航海にはどのくらいの年月がかかりましたか', '航海には の年月がかかり'],
  ['体積はどうなりますか', '体積は なり'],
  ['利用料はいくらですか', '利用料は'],
  ['種類はいくつでしたか', '種類は'],
  ['何年間教えましたか', '教え'],
  ['生まれたのは何歳ごろですか', '生まれたのは'],
  ['加盟国は何か国ですか', '加盟国は'],
  ['何を使いましたか', 'を使い'],
  ['これは何という町ですか', 'これは 町'],
  ['解約の条件を教えてください。', '解約の条件'],
  ['保証期間について説明してもらえますか？', '保証期間'],
  ['光合成とは何ですか', '光合成とは'],
  ['光合成とは？', '光合成'],
])('drops what only asks: %s', (question, rest) => expect(restOf(question)).toBe(rest))

test.each([
  '電信を教えてくれた駅長',
  '水道やガスなどの料金',
  '三年ほどの期間',
  'ぶどうの木',
  'いつも開いている窓口',
  '使いつつ直す',
  '処置をほどこす',
  '髪がみだれる',
  '幾何学の本',
  '几何图形',
])('leaves what only looks like it: %s', (question) => expect(restOf(question)).toBe(question))
