/** Operand bytes by the upper three bits of the property number; 6 is length-prefixed (MS-DOC 2.6.1). */
const OPERAND_BYTES = [1, 1, 2, 4, 2, 2, undefined, 3] as const
const TABLE_DEFINITION = 0xd608

export interface Property {
  readonly number: number
  readonly operand: DataView
}

export const createView = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export function* listProperties(bytes: Uint8Array): Generator<Property> {
  const view = createView(bytes)
  for (let at = 0; at + 2 < view.byteLength;) {
    const number = view.getUint16(at, true)
    if (number === TABLE_DEFINITION && at + 4 > view.byteLength) return
    const length =
      number === TABLE_DEFINITION
        ? 1 + view.getUint16(at + 2, true)
        : (OPERAND_BYTES[number >> 13] ?? view.getUint8(at + 2) + 1)
    if (at + 2 + length > view.byteLength) return
    yield { number, operand: createView(bytes.subarray(at + 2, at + 2 + length)) }
    at += 2 + length
  }
}

/** Operand bytes of Word 6 and 95; other properties are length-prefixed. */
const WORD95_OPERAND_BYTES: ReadonlyMap<number, number> = new Map(
  (
    [
      [0, '0 52 83 163'],
      [
        1,
        '4-11 13 14 24 25 29 37 44 50 51 65-67 71 75 85-92 94 98 100 102 104 117-119 131 132 138 139 142 143 146 147 150-153',
      ],
      [1, '158 159 162 185 186'],
      [2, '2 16-19 21 22 26-28 30-36 38-43 45-49 69 72 80 93 96 97 99 101 107 109 110 121-124 140 141 144 145 148 149'],
      [2, '154-157 160 161 164-171 182-184 189 195 197 198'],
      [3, '73 95 136 137'],
      [4, '20 70 192 194 196 200'],
      [5, '193 199'],
      [12, '187'],
    ] as const
  ).flatMap(([bytes, numbers]) =>
    numbers.split(' ').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index): [number, number] => [first + index, bytes])
    }),
  ),
)
const WORD95_TABLE_DEFINITIONS: readonly number[] = [188, 190]

/** Property numbers take one byte. Stops at the first unreadable property. */
export function* listWord95Properties(bytes: Uint8Array): Generator<Property> {
  const view = createView(bytes)
  for (let at = 0; at + 1 < view.byteLength;) {
    const number = view.getUint8(at)
    const isTable = WORD95_TABLE_DEFINITIONS.includes(number)
    if (isTable && at + 3 > view.byteLength) return
    const length = isTable
      ? 1 + view.getUint16(at + 1, true)
      : (WORD95_OPERAND_BYTES.get(number) ?? view.getUint8(at + 1) + 1)
    if (at + 1 + length > view.byteLength) return
    yield { number, operand: createView(bytes.subarray(at + 1, at + 1 + length)) }
    at += 1 + length
  }
}
