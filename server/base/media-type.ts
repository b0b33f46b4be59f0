export interface MediaType {
  /** `type/subtype` in lower case. */
  readonly type: string
  readonly charset: string | undefined
}

const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
// RFC 9110, 8.3.1, without empty parameters; a quoted string has no escapes.
const PARAMETER = `[\\t ]*;[\\t ]*(?:${TOKEN})=(?:${TOKEN}|"[\\t !#-\\[\\]-~]*")`
const MEDIA_TYPE = new RegExp(`^(${TOKEN}/${TOKEN})((?:${PARAMETER})*)[\\t ]*$`)
const CHARSET = new RegExp(`;[\\t ]*charset=(?:"([^"]*)"|(${TOKEN}))`, 'i')
const MAX_LENGTH = 255

/** Undefined unless `text` is exactly one media type: browsers read others as a list, of which the last counts. */
export function parseMediaType(text: string | undefined): MediaType | undefined {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return undefined
  const [, type, parameters = ''] = MEDIA_TYPE.exec(text) ?? []
  if (type === undefined) return undefined
  const [, quoted, token] = CHARSET.exec(parameters) ?? []
  return { type: type.toLowerCase(), charset: quoted ?? token }
}
