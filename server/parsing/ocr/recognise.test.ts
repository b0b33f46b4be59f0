/** Uses few pages, because each takes seconds; real-files.test.ts covers accuracy. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ParsedPage } from '#server/parsing/page.ts'
import { drawText, makeJpeg, makePng, makeScannedPdf, makeTransparentPng } from '#test/make-scan.ts'
import { readDocument } from '#test/read-document.ts'

const words = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
const SCANS = path.resolve(import.meta.dirname, '../../../test/scans')
const LETTER =
  'Dear Sir or Madam,\n\nthe notice period of this contract is three months and begins at the end of the quarter in which it was given. ' +
  'Payments are due within thirty days of the date of the bill.\n\nYours sincerely,\nAlexander Humboldt'

function middleOf(page: ParsedPage | undefined, word: string): { x: number; y: number } {
  const at = page?.text.indexOf(word) ?? -1
  const [, , left = 0, top = 0, width = 0, height = 0] = page?.boxes?.find(([offset]) => offset === at) ?? []
  return { x: (left + width / 2) / 10_000, y: (top + height / 2) / 10_000 }
}

describe('a picture', () => {
  test('yields every word with its location and confidence', async () => {
    const { pages } = await readDocument(await makePng(await drawText(LETTER)), 'letter.png')
    const [page] = pages
    expect(words(page?.text ?? '')).toBe(words(LETTER))
    expect(page?.confidence).toBeGreaterThan(85)
    for (const [offset, length] of page?.boxes ?? []) expect(page?.text.slice(offset, offset + length)).toMatch(/^\S+$/)
    const first = middleOf(page, 'Dear')
    const last = middleOf(page, 'Humboldt')
    expect(first.x).toBeCloseTo(0.12, 1)
    expect(last.y).toBeGreaterThan(first.y)
  })

  test.each([
    [
      'German',
      'Sehr geehrte Frau Müller,\n\nIhre Schule gehört zu denen, die vom Auswärtigen Amt gefördert werden. Für die Förderung ' +
        'im nächsten Jahr genügt ein Brief, in dem die Zahl der Schüler und die Höhe der Gebühren stehen.\n\n' +
        'Bitte geben Sie uns bis zum ersten März Bescheid.\n\nMit freundlichen Grüßen\nJörg Böhm',
    ],
    [
      'Spanish',
      'Estimada señora Muñoz:\n\nle escribimos porque el próximo año cambiará la dirección de nuestra oficina. También habrá ' +
        'más plazas de aparcamiento y una entrada para los que llegan en bicicleta. La mudanza será en enero.\n\n' +
        'Si tiene alguna pregunta sobre el traslado, llámenos por teléfono o venga a vernos.\n\nUn cordial saludo\nJosé Ibáñez',
    ],
    [
      'Portuguese',
      'Estimada senhora Magalhães,\n\nescrevemos porque no próximo ano a direção do nosso escritório vai mudar. Também haverá mais ' +
        'lugares de estacionamento e uma entrada para os que chegam de bicicleta. A mudança não será antes de janeiro.\n\n' +
        'Se tiver alguma questão, telefone ou venha ver as instalações.\n\nCom os melhores cumprimentos\nJoão Conceição',
    ],
  ])('in %s is read with its own letters where nobody has said which language it is in', async (_name, letter) => {
    const { pages } = await readDocument(await makePng(await drawText(letter)), 'letter.png')
    expect(words(pages[0]?.text ?? '')).toBe(words(letter))
  })

  test.each([
    ['chi_tra', '我們深表歉意。維修期間請走東側樓梯'],
    ['ell', 'Τρίτη από τις εννέα έως τις έντεκα'],
    ['fas', 'پرسش‌های خود را می‌توانید هر سه‌شنبه از ساعت نه تا یازده از نگهبان بپرسید'],
    ['jpn', '工事は三週間続く見込みですので、家具の搬入はその後に\nお願いいたします。'],
    ['pol', 'Pytania można zadać dozorcy w każdy wtorek od dziewiątej do\njedenastej.'],
    ['rus', 'Вопросы можно задать сторожу каждый вторник с девяти до\nодиннадцати часов.'],
    ['tha', 'งานจะใช้เวลาสามสัปดาห์กรุณาเลื่อนการขนย้ายเฟอร์นิเจอร์ออกไปก่อน'],
  ])('in the script of %s is read where nobody has said which language it is in', async (language, sentence) => {
    const scan = await readFile(path.join(SCANS, `${language}.png`))
    const [page] = (await readDocument(scan, 'notice.png')).pages
    expect(page?.text).toContain(sentence)
    for (const [offset, length] of page?.boxes ?? []) expect(page?.text.slice(offset, offset + length)).toMatch(/^\S+$/)
  })

  test('is read in another script than the chosen languages', async () => {
    const scan = await readFile(path.join(SCANS, 'chi_sim.png'))
    const [page] = (await readDocument(scan, 'notice.png', undefined, ['deu'])).pages
    expect(page?.text).toContain('如有问题，请于每星期二上午九点至十一点向门卫询问')
  })

  test('is turned upright by its Exif orientation', async () => {
    const raster = await drawText(LETTER)
    const { pages } = await readDocument(await makeJpeg(raster, 6), 'photo.jpg')
    expect(words(pages[0]?.text ?? '')).toContain('three months')
  })

  test('is read despite a skew, with the locations of words on the original', async () => {
    const straight = (await readDocument(await makePng(await drawText(LETTER)), 'a.png')).pages[0]
    const turned = (await readDocument(await makePng(await drawText(LETTER), 8), 'b.png')).pages[0]
    expect(words(turned?.text ?? '')).toContain('the end of the quarter in which it was given')
    // Turned clockwise around the middle, a word at the upper left moves up and right.
    expect(middleOf(turned, 'Dear').x).toBeGreaterThan(middleOf(straight, 'Dear').x)
  })

  test('is read if it is light on dark', async () => {
    const { pixels, ...size } = await drawText(LETTER)
    const dark = { ...size, pixels: pixels.map((pixel) => 230 - Math.min(pixel, 210)) }
    const { pages } = await readDocument(await makePng(dark), 'dark-mode.png')
    expect(words(pages[0]?.text ?? '')).toBe(words(LETTER))
  })

  test.each([
    ['white', 255],
    ['black', 0],
  ])('of %s words on a transparent ground is read', async (_name, ink) => {
    const { pages } = await readDocument(await makeTransparentPng(await drawText(LETTER), ink), 'logo.png')
    expect(words(pages[0]?.text ?? '')).toBe(words(LETTER))
  })

  test('is reported as empty without text', async () => {
    const raster = { width: 600, height: 400, pixels: new Uint8Array(240_000).fill(200) }
    expect(await readDocument(await makePng(raster), 'grey.png')).toMatchObject({ failure: 'no_text_in_picture' })
  })

  test('is rejected before decoding if it has too many pixels', async () => {
    const png = await makePng({ width: 1, height: 1, pixels: new Uint8Array([0]) })
    png.writeUInt32BE(30_000, 16)
    png.writeUInt32BE(30_000, 20)
    expect(['too_many_pixels', 'damaged']).toContain((await readDocument(png, 'bomb.png')).failure)
  })
})

test('only pdf pages without text go to OCR, including sideways ones', async () => {
  const picture = await drawText(LETTER)
  const { pages } = await readDocument(
    makeScannedPdf([{ text: 'A page of text. '.repeat(20) }, { picture, turn: 90 }, { text: 'The last page.' }]),
    'mixed.pdf',
  )
  expect(pages.map(({ confidence }) => confidence !== undefined)).toEqual([false, true, false])
  expect(words(pages[1]?.text ?? '')).toBe(words(LETTER))
  expect(pages[0]?.items).toBeDefined()
  expect(pages[1]?.items).toBeUndefined()
  // A viewer turns the page clockwise: the upper left becomes the upper right.
  expect(middleOf(pages[1], 'Dear').x).toBeGreaterThan(0.8)
  expect(middleOf(pages[1], 'Dear').y).toBeLessThan(0.3)
})

test('a stamp of text on a scan does not prevent OCR', async () => {
  const stamp =
    'Downloaded from the archive of the county by reader 88213 on 3 May 2026; copies of it may not be handed on to anybody.'
  const pages = [{ picture: await drawText(LETTER.repeat(2)), stamp }]
  const read = await readDocument(makeScannedPdf(pages), 'stamped.pdf')
  expect(words(read.pages[0]?.text ?? '')).toContain('three months')
})

test('thousands of empty pages skip OCR', async () => {
  const empty = { picture: { width: 1, height: 1, pixels: new Uint8Array([255]) } }
  expect(await readDocument(makeScannedPdf(Array.from({ length: 60 }, () => empty)), 'empty.pdf')).toMatchObject({
    failure: 'no_text',
  })
})
