interface TesseractApi {
  Init(dataPath: null, languages: string, engineMode: number): number
  SetVariable(name: string, value: string): boolean
  /** Reads "/input" of the in-memory file system; returns 1 if it is not an image. */
  SetImageFile(exifOrientation: number, angle: number): number
  SetRectangle(left: number, top: number, width: number, height: number): void
  DetectOS(results: TesseractOrientation): boolean
  Recognize(monitor: null): number
  GetTSVText(page: number): string
  End(): void
}

interface TesseractOrientation {
  readonly best_result: {
    readonly orientation_id: number
    readonly oconfidence: number
    readonly script_id: number
    readonly sconfidence: number
  }
  readonly unicharset: { get_script_from_script_id(script: number): string }
}

interface TesseractModule {
  readonly FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void }
  readonly TessBaseAPI: new () => TesseractApi
  readonly OSResults: new () => TesseractOrientation
}

declare module 'tesseract.js-core/*' {
  export default function createModule(options: {
    readonly print: (line: string) => void
    readonly printErr: (line: string) => void
    readonly TesseractProgress: (percent: number) => void
  }): Promise<TesseractModule>
}
