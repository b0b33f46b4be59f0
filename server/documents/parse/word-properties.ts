/** Lists of formatting properties, as a Word document of the years 1997 to 2003 keeps them (MS-DOC 2.6.1). */

/** Bytes of the operand by the upper three bits of the property's number; 6 says its length itself (MS-DOC 2.6.1). */
const OPERAND_BYTES = [1, 1, 2, 4, 2, 2, undefined, 3] as const
/** The one property whose length takes two bytes, and counts one of them. */
const TABLE_DEFINITION = 0xd608

export interface Property {
  readonly number: number
  readonly operand: DataView
}

export const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The properties of a list of them, as far as it can be read. */
export function* listProperties(bytes: Uint8Array): Generator<Property> {
  const view = viewOf(bytes)
  for (let at = 0; at + 2 < view.byteLength;) {
    const number = view.getUint16(at, true)
    if (number === TABLE_DEFINITION && at + 4 > view.byteLength) return
    const length =
      number === TABLE_DEFINITION
        ? 1 + view.getUint16(at + 2, true)
        : (OPERAND_BYTES[number >> 13] ?? view.getUint8(at + 2) + 1)
    if (at + 2 + length > view.byteLength) return
    yield { number, operand: viewOf(bytes.subarray(at + 2, at + 2 + length)) }
    at += 2 + length
  }
}
