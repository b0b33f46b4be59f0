import type { Raster } from './raster.ts'

const [WIDTH, HEIGHT] = [1_000, 140]
const LINES = 2
const [LETTER_WIDTH, LETTER_HEIGHT, STROKE] = [12, 20, 3]
const [LETTER_STEP, LINE_STEP, MARGIN] = [18, 40, 40]
const WORD_LETTERS = 5

/** Two lines of meaningless strokes. Reading them compiles the engine's hot code: the first page is 10 % faster. */
export function drawWarmUpImage(): Raster {
  const pixels = new Uint8Array(WIDTH * HEIGHT).fill(255)
  for (let line = 0; line < LINES; line += 1) {
    for (let letter = 0; MARGIN + (letter + 1) * LETTER_STEP < WIDTH; letter += 1) {
      if (letter % (WORD_LETTERS + 1) === WORD_LETTERS) continue
      const corner = (MARGIN + line * LINE_STEP) * WIDTH + MARGIN + letter * LETTER_STEP
      for (let y = 0; y < LETTER_HEIGHT; y += 1)
        for (let x = 0; x < LETTER_WIDTH; x += 1) if (isInk(letter, x, y)) pixels[corner + y * WIDTH + x] = 0
    }
  }
  return { width: WIDTH, height: HEIGHT, pixels }
}

function isInk(letter: number, x: number, y: number): boolean {
  if (x < STROKE) return true
  if (letter % 3 !== 0 && x >= LETTER_WIDTH - STROKE) return true
  if (letter % 2 === 0 && y < STROKE) return true
  if (letter % 3 === 1 && y >= LETTER_HEIGHT - STROKE) return true
  return letter % 4 === 0 && Math.abs(y - LETTER_HEIGHT / 2) < 2
}
