import { expect, test } from 'vitest'
import { isFollowUp, refersBack, withEarlierQuestion } from './follow-up.ts'

test.each([
  'And when exactly?',
  'who holds it?',
  'How much does that cost me?',
  'Why?',
  'What about the cellar?',
  'Und wie lange gilt das?',
  'Und wann?',
  'And where on the machine do I find that number?',
  'Who plays after him on the same stage?',
  'Und wie viele Stück davon hält der Fonds?',
  'Et quand finit-elle ?',
  'А сколько их там?',
  'Og hvor lang er den?',
  'Hvad koster det?',
  'När slutar den?',
  'Wie hoch ist sie?',
  'Wer hat das gesagt?',
  'Was kostet das?',
  'Gilt das auch für Kinder?',
  'Und der Vermieter?',
  'Quand finit-il ?',
  'Et le loyer ?',
  '¿Quién lo firmó?',
  '¿Y la fianza?',
  'Chi lo ha firmato?',
  'E quando finisce?',
  'E la cauzione?',
  'Wanneer eindigt het?',
  'Сколько это стоит?',
  'A kdy přesně?',
  'A kiedy dokładnie?',
])('"%s" goes on from the question before', (question) => expect(isFollowUp(question)).toBe(true))

test.each([
  'How long is the notice period?',
  'Notice period',
  'Is it allowed to smoke?',
  'And what does the landlord pay for the repair of the roof?',
  'What does this contract say about repairs of the boiler?',
  'Wie hoch ist die Kaution?',
  'Does a tenant lose his deposit after three months of rent?',
  'Is there a deposit?',
  'How long does it take to cancel?',
  'Wer ist der Vermieter?',
  'Was kostet das Parken?',
  'Wie hoch ist das gesamte Volumen?',
  'Welche Rechte hat das Kind?',
  'Wie lange darf ich kündigen?',
  'Haben Sie einen Hund?',
  'Gibt es eine Kaution?',
  'Was kostet den Mieter die Reparatur?',
  'Quelle est la durée du bail ?',
  'Y a-t-il une caution ?',
  'Il faut payer quand ?',
  'Est-il permis de fumer ?',
  '¿Cuál es la fianza?',
  '¿Qué dice la cláusula?',
  'Qual è il canone?',
  'Lo stipendio è di quanto?',
  'Quanto costa il parcheggio?',
  'Hvad er det samlede beløb?',
  'Vad är den totala kostnaden?',
])('"%s" stands for itself', (question) => expect(isFollowUp(question)).toBe(false))

test.each([
  'Was kostet das Parken?',
  'Quelle est la durée du bail ?',
  'En quelle année commence le bail ?',
  'A tenant pays what?',
  'Y a-t-il une caution ?',
  'Qual è la durata del canone?',
])('"%s" takes nothing from the answer before', (question) => expect(refersBack(question)).toBe(false))

test('is searched together with the last question that is complete in itself', () => {
  const earlier = ['Who is the landlord?', 'What is the break clause?', 'How much does that cost me?']
  expect(withEarlierQuestion('And when exactly?', earlier)).toBe('And when exactly?\nWhat is the break clause?')
  expect(withEarlierQuestion('How high is the deposit?', earlier)).toBe('How high is the deposit?')
  expect(withEarlierQuestion('And when exactly?', [])).toBe('And when exactly?')
})
