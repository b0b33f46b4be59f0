const MAX_COMPARED_LENGTH = 80
const MIN_SIMILARITY = 0.75

/** Levenshtein distance. */
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

/** Undefined if no name reaches `MIN_SIMILARITY`. */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  if (misspelt.length > MAX_COMPARED_LENGTH) return undefined
  const similarity = (name: string) => 1 - editDistance(misspelt, name) / Math.max(misspelt.length, name.length, 1)
  const [nearest] = names.map((name) => ({ name, likeness: similarity(name) })).sort((a, b) => b.likeness - a.likeness)
  return nearest && nearest.likeness >= MIN_SIMILARITY ? nearest.name : undefined
}
