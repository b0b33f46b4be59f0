import type { AnswerStep } from '#contract/message.ts'
import type { AddedWord, ConsideredPassage } from '#contract/trace.ts'

const CUT_LABELS: Record<NonNullable<ConsideredPassage['cut']>, string> = {
  rank: 'left out: ranked too low',
  copy: 'left out: says the same as another',
  joined: 'joined to its neighbour',
  room: 'left out: no room',
}

export const describeCut = (cut: ConsideredPassage['cut']): string =>
  cut === null ? 'shown to the model' : CUT_LABELS[cut]

const ORIGIN_LABELS: Record<AddedWord['origin'], string> = {
  everyday: 'as another word for the same thing',
  synonym: 'as a synonym',
  translation: 'in a language of the documents',
  script: 'as another script writes the name',
}

/** Words that were looked for besides one of the question, and why. */
export const describeAddedWords = ({ word, origin, words }: Pick<AddedWord, 'word' | 'origin' | 'words'>): string =>
  `“${word}” is rare or missing, so ${words.join(', ')} was looked for too, ${ORIGIN_LABELS[origin]}.`

const STEP_LABELS: Record<AnswerStep['name'], string> = {
  found: 'finding passages',
  tools: 'tools',
  begun: 'to the first word',
  written: 'writing',
  checked: 'checking quotations',
}

export const describeSteps = (steps: readonly AnswerStep[]): string =>
  steps.map(({ name, ms }) => `${STEP_LABELS[name]} ${ms} ms`).join(' · ')

const threeDigits = (value: number) => String(Number(value.toPrecision(3)))

export function describeScores({ score, scores }: ConsideredPassage): string {
  const { words, nearness, subject, meaning } = scores
  const parts = [
    ...(words === undefined ? [] : [`words ${threeDigits(words)}`]),
    ...(nearness === undefined || nearness === 0 ? [] : [`words near each other ${threeDigits(nearness)}`]),
    ...(subject === undefined ? [] : [`subject ${threeDigits(subject)}`]),
    ...(meaning === undefined ? [] : [`meaning ${threeDigits(meaning)}`]),
    `${meaning === undefined ? 'ranked by' : 'fused'} ${threeDigits(score)}`,
  ]
  return parts.join(' · ')
}
