declare module 'word-extractor' {
  /** `filterUnicode` straightens quotation marks unless it is false. */
  interface Extracted {
    getBody(options: { readonly filterUnicode: boolean }): string
    getFootnotes(options: { readonly filterUnicode: boolean }): string
    getEndnotes(options: { readonly filterUnicode: boolean }): string
    getTextboxes(options: { readonly filterUnicode: boolean }): string
  }
  export default class WordExtractor {
    extract(bytes: Buffer): Promise<Extracted>
  }
}
