import { expect, test } from 'vitest'
import { findAskedWords, findInitials } from './asked-words.ts'

test.each([
  ['When did she die?', 'die'],
  ['When did Ada Lovelace die?', 'die'],
  ['Who was the man in the photo?', 'man'],
  ['How long did the war last?', 'war'],
  ['Which hat did the guest forget?', 'hat'],
  ['Which art does the museum show?', 'art'],
])('an English word that is a function word of other languages says what is asked: %s', (question, word) => {
  const { asked, general } = findAskedWords(question)
  expect([...asked]).toContain(word)
  expect(general.has(word)).toBe(false)
})

test.each([
  ['Wann endet die Pacht der Mühle?', 'die'],
  ['Was kostet die Bahn in Berlin?', 'die'],
  ['Wer hat Anna eingeladen?', 'hat'],
  ['Wann war Ebbe?', 'war'],
  ['Hoeveel kost de kamer die Anna huurt?', 'die'],
  ['Wie was die man in de foto?', 'die'],
  ['Hur anmäler man en skada?', 'man'],
  ['När får man semester?', 'man'],
  ['Hva gjør man for at båten skal flyte?', 'man'],
  ['Hvor henvender man sig?', 'man'],
])('in other languages it asks about nothing: %s', (question, word) => {
  const { asked, general } = findAskedWords(question)
  expect(general.has(word)).toBe(true)
  expect([...asked]).not.toContain(word)
})

test('initials leave out an article or an asking word before the name', () => {
  expect(findInitials('Was plant Die Deutsche Bahn?').get('bahn')).toBe('DB')
  expect(findInitials('Die Deutsche Bahn plant was?').get('bahn')).toBe('DB')
  expect(findInitials('Which World Health Organization rules apply?').get('health')).toBe('WHO')
})
