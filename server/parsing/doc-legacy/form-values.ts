/** Values of form fields, which a .doc keeps in a stream of their own (MS-DOC 2.9.78, 2.9.158). */
import { createView, listProperties } from './properties.ts'
import type { Run } from './runs.ts'

const PLACE_OF_DATA = 0x6a03
const HEADER_LENGTH = 4
const FIELD_DATA_VERSION = 0xff_ff_ff_ff
const TEXT = 0
const DROPDOWN = 2
/** The result is the default. */
const NO_RESULT = 25
const TEXTS_BEFORE_ENTRIES = 5

const utf16 = new TextDecoder('utf-16le')

/** @returns the chosen entry of a dropdown, or the default of a text field; undefined for other runs and broken data */
export function readFormValue({ properties }: Pick<Run, 'properties'>, data: Uint8Array): string | undefined {
  for (const { number, operand } of listProperties(properties)) {
    if (number !== PLACE_OF_DATA) continue
    try {
      return readFieldData(data, operand.getUint32(0, true))
    } catch (error) {
      // Broken data cost the value, not the text.
      if (error instanceof RangeError) return undefined
      throw error
    }
  }
  return undefined
}

function readFieldData(data: Uint8Array, start: number): string | undefined {
  const view = createView(data)
  let at = start + view.getUint16(start + HEADER_LENGTH, true)
  const takeNumber = (): number => {
    at += 2
    return view.getUint16(at - 2, true)
  }
  const takeText = (): string => {
    const length = 2 * takeNumber()
    if (at + length > data.length) throw new RangeError('a text of a form field is broken')
    at += length
    return utf16.decode(data.subarray(at - length, at))
  }
  /** The text ends in a zero. */
  const takeEndedText = (): string => {
    const text = takeText()
    takeNumber()
    return text
  }
  if (view.getUint32(at, true) !== FIELD_DATA_VERSION) return undefined
  at += 4
  const bits = takeNumber()
  const [kind, result] = [bits & 3, (bits >> 2) & 0x1f]
  at += 4
  takeEndedText()
  if (kind === TEXT) return takeEndedText()
  if (kind !== DROPDOWN) return undefined
  const preset = takeNumber()
  for (let text = 0; text < TEXTS_BEFORE_ENTRIES; text += 1) takeEndedText()
  at += 2
  const count = takeNumber()
  at += 2
  const chosen = result === NO_RESULT ? preset : result
  for (let entry = 0; entry < count; entry += 1) {
    const text = takeText()
    if (entry === chosen) return text
  }
  return undefined
}
