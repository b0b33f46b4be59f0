import { sourceOfBytes } from '#server/documents/byte-source.ts'
import { oleStreamNames } from '#server/documents/ole.ts'
import { ParseFailure } from './failure.ts'
import { type ParsedPart } from './page.ts'

/** Types that are accepted and kept, but have no reader. */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  if ((await oleStreamNames(sourceOfBytes(bytes))).includes('encryptedpackage')) throw new ParseFailure('encrypted')
  throw new ParseFailure('unsupported')
}
