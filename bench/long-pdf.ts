import { makePdf } from '#test/make-pdf.ts'

const WORDS = 'lamp harbour keeper ledger winter stone passage window tide letter archive garden copper signal'.split(
  ' ',
)
const LINES = 40

/** @param salt makes each file unique; salts differ by more than the number of lines */
export function makeLongPdf(pages: number, salt: number): Uint8Array<ArrayBuffer> {
  const sentence = (seed: number) =>
    `${Array.from({ length: 12 }, (_, index) => WORDS[(seed * 7 + index * ((seed % 5) + 1)) % WORDS.length]).join(' ')} ${seed}.`
  const texts = Array.from({ length: pages }, (_, page) =>
    Array.from({ length: LINES }, (_line, line) => sentence(salt + page * LINES + line)).join('\n'),
  )
  return new Uint8Array(makePdf(texts))
}
