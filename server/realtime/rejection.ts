/** `reason` is realtime-js's "Code: text". */
export class Rejection extends Error {
  readonly reason: string

  constructor(code: string, text: string, { cause }: { cause?: unknown } = {}) {
    super(text, cause === undefined ? undefined : { cause })
    this.name = 'Rejection'
    this.reason = `${code}: ${text}`
  }
}
