/**
 * Claims of answers against their passages: `npm run bench -- claims`. Planted faults that are marked, and right sentences
 * that are, by kind; `LIST=on` prints those that are missed.
 */
import { findUnverified } from '#server/assistant/citations/check-claims.ts'
import { type PlantedClaim, plantClaims } from './planted-claims.ts'
import { WRITTEN_CLAIMS } from './written-claims.ts'

const isMarked = ({ answer, passages }: PlantedClaim): boolean =>
  findUnverified(answer, {
    numbers: new Set(passages.map((_, index) => index + 1)),
    passageOf: (n) => {
      const text = passages[n - 1]
      return text === undefined ? undefined : { text }
    },
    known: [],
  }).length > 0

const share = (marked: number, all: number) => (all === 0 ? 0 : Math.round((marked / all) * 1000) / 10)

function score(claims: readonly PlantedClaim[]) {
  const judged = claims.map((claim) => ({ ...claim, marked: isMarked(claim) }))
  const ofKind = (isFault: boolean) => judged.filter((claim) => claim.isFault === isFault)
  return {
    judged,
    faults: ofKind(true).length,
    faultsMarked: share(ofKind(true).filter(({ marked }) => marked).length, ofKind(true).length),
    right: ofKind(false).length,
    rightMarked: share(ofKind(false).filter(({ marked }) => marked).length, ofKind(false).length),
  }
}

function printTable(title: string, judged: readonly (PlantedClaim & { marked: boolean })[]): void {
  console.log(title)
  const groups = Map.groupBy(judged, ({ isFault, type }) => `${isFault ? 'fault' : 'right'} ${type}`)
  for (const [name, group] of [...groups].toSorted(([one], [other]) => one.localeCompare(other)))
    console.log(`  ${name.padEnd(28)} ${String(group.filter(({ marked }) => marked).length).padStart(4)} of ${group.length} marked`) // prettier-ignore
  if (process.env.LIST === undefined) return
  for (const { isFault, marked, language, type, answer } of judged)
    if (isFault !== marked) console.log(`  ${isFault ? 'missed' : 'wrongly marked'} (${language}, ${type}): ${answer}`)
}

export function run(): Record<string, unknown> {
  const planted = score(plantClaims())
  const written = score(WRITTEN_CLAIMS)
  printTable('planted by rules', planted.judged)
  printTable('written by hand', written.judged)
  const { judged: _planted, ...ofRules } = planted
  const { judged: _written, ...ofHand } = written
  return { bench: 'claims', ...ofRules, written: ofHand }
}
