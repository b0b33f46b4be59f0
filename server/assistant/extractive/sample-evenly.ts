export const sampleEvenly = <T>(all: readonly T[], max: number): T[] =>
  all.filter((_, index) => Math.floor((index * max) / all.length) !== Math.floor(((index - 1) * max) / all.length))
