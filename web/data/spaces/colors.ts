/** The colours of spaces: names of tokens (`--tint-{name}`). */
export const SPACE_COLORS = ['blue', 'teal', 'green', 'olive', 'clay', 'rose', 'plum', 'slate'] as const

/** Other programs may store any name. */
export const spaceColor = (name: string): string =>
  `var(--tint-${SPACE_COLORS.find((known) => known === name) ?? 'slate'})`
