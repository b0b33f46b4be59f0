import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8')
const [dark = '', light = ''] = css.split(":root[data-theme='light']")

/** Relative luminance (WCAG 2) of an opaque `oklch(l c h)` token. */
function luminance(theme: string, role: string): number {
  const match = new RegExp(`--${role}: oklch\\(([\\d.]+) ([\\d.]+) ([\\d.]+)\\)`).exec(theme)
  if (match === null) throw new Error(`no opaque colour --${role}`)
  const [lightness = 0, chroma = 0, hue = 0] = match.slice(1).map(Number)
  const a = chroma * Math.cos((hue * Math.PI) / 180)
  const b = chroma * Math.sin((hue * Math.PI) / 180)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s
  const green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s
  const blue = -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(theme: string, one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(theme, one), luminance(theme, other)].toSorted((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

describe.each([
  ['dark', dark],
  ['light', light],
])('contrast in the %s theme', (_name, theme) => {
  it.each(['paper', 'paper-raised', 'paper-float'])('text on %s has 7:1, soft text 4.5:1', (paper) => {
    expect(contrast(theme, 'ink', paper)).toBeGreaterThanOrEqual(7)
    expect(contrast(theme, 'ink-soft', paper)).toBeGreaterThanOrEqual(4.5)
    expect(contrast(theme, 'danger', paper)).toBeGreaterThanOrEqual(4.5)
  })

  it.each(['keyword', 'type', 'title', 'string', 'number', 'attribute'])('%s of code has 7:1 on its block', (part) => {
    expect(contrast(theme, `code-${part}`, 'paper-raised')).toBeGreaterThanOrEqual(7)
  })

  it.each(['blue', 'teal', 'green', 'olive', 'clay', 'rose', 'plum', 'slate'])('the mark %s has 3:1', (tint) => {
    for (const paper of ['paper', 'paper-raised', 'paper-float'])
      expect(contrast(theme, `tint-${tint}`, paper)).toBeGreaterThanOrEqual(3)
  })

  it('lamp and danger carry readable words, on them and on paper', () => {
    expect(contrast(theme, 'lamp', 'paper')).toBeGreaterThanOrEqual(4.5)
    expect(contrast(theme, 'lamp', 'paper-raised')).toBeGreaterThanOrEqual(4.5)
    expect(contrast(theme, 'lamp-ink', 'lamp')).toBeGreaterThanOrEqual(4.5)
    expect(contrast(theme, 'danger-ink', 'danger')).toBeGreaterThanOrEqual(4.5)
  })
})
