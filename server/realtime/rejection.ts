/** Why a join, a token or a message is refused, in the words that realtime-js and its users know: "Code: text". */
export class Rejection extends Error {
  readonly reason: string

  constructor(code: string, text: string, { cause }: { cause?: unknown } = {}) {
    super(text, cause === undefined ? undefined : { cause })
    this.name = 'Refusal'
    this.reason = `${code}: ${text}`
  }
}
