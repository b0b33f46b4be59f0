/** At most `max` items at even distances, the first among them. */
export const sampleEvenly = <T>(all: readonly T[], max: number): T[] =>
  all.filter((_, index) => Math.floor((index * max) / all.length) !== Math.floor(((index - 1) * max) / all.length))
