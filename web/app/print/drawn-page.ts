/** A page as a picture, with its text to be laid over it. */
export interface DrawnPage {
  picture: HTMLImageElement | HTMLCanvasElement
  /** Filled by pdf.js. */
  letters: HTMLElement
  /** CSS pixels at the scale 1. */
  width: number
  height: number
}

export type Preparation = {
  signal: AbortSignal
  tell: (done: number, total: number) => void
}

export function revokePictures(pages: readonly DrawnPage[]): void {
  for (const { picture } of pages) if (picture instanceof HTMLImageElement) URL.revokeObjectURL(picture.src)
}
