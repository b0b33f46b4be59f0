const LONGEST_COMPARED = 80
const LEAST_LIKENESS = 0.75

/** Insertions, deletions and replacements between two words. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + Number(left[row - 1] !== right[column - 1])
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}

/** The name most like a misspelt one; undefined where none is at least three quarters the same. */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  if (misspelt.length > LONGEST_COMPARED) return undefined
  const likeness = (name: string) => 1 - editDistance(misspelt, name) / Math.max(misspelt.length, name.length, 1)
  const [nearest] = names.map((name) => ({ name, likeness: likeness(name) })).sort((a, b) => b.likeness - a.likeness)
  return nearest && nearest.likeness >= LEAST_LIKENESS ? nearest.name : undefined
}
