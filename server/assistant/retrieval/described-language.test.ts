import { expect, test } from 'vitest'
import { namedLanguages } from './described-language.ts'

test.each([
  ['What does the Polish report say about rents?', ['polish']],
  ['When was the Iranian permit renewed?', ['persian']],
  ['Was steht im koreanischen Vertrag über die Frist?', ['korean']],
  ['Que dit la notice japonaise sur le filtre ?', ['japanese']],
  ['¿Qué dice el informe ruso?', ['russian']],
  ['韓国語の契約書には何とありますか。', ['korean']],
  ['Quel est le délai du contrat italien ?', ['italian']],
  ['Что сказано в польском отчёте?', ['polish']],
  ['¿Qué dice el contrato francés sobre la fianza?', ['french']],
  ['¿Y las cláusulas inglesas?', ['english']],
  ['Che cosa dice il contratto francese? E quello danese?', ['danish', 'french']],
  ['Que disent les conditions italiennes ?', ['italian']],
  ['Wat staat er in de Nederlandse overeenkomst?', ['dutch']],
  ['Vad säger det svenska avtalet?', ['swedish']],
  ['Co mówi polska umowa?', ['polish']],
  ['Compare the Spanish lease with the Dutch one.', ['dutch', 'spanish']],
])('"%s" names %j', (question, languages) => {
  expect(namedLanguages(question)).toEqual(languages)
})

test.each([
  'How do I polish the table?',
  'Which policy covers the boat?',
  'Which fines are there for a person in the pools?',
  'Wie lang ist die Frist?',
  'How do I get rust off the blade?',
  'Why was everybody in such a rush?',
  'Which prize did Russo win with Francesco and Francesca?',
  'What did Frances tell Carlos in China?',
])('"%s" names no language', (question) => {
  expect(namedLanguages(question)).toEqual([])
})
