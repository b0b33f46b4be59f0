/**
 * Cells of a sheet's XML that declare a type and store no value, as report generators write them. The library would read
 * FALSE or an empty text; without the type it reads a cell without a value (ECMA-376 part 1, 18.3.1.4).
 */
const MAY_LACK_VALUE = /\st=["'](?:b|e|d|str)["']/
const CELL = /<((?:\w+:)?c)(\s[^<>]*?)(?:\/>|>((?:(?!<\/?(?:\w+:)?c[\s>])[\s\S])*?)<\/\1>)/g
const TYPE = /\st=["'](b|e|d|str)["']/
const VALUE = /<(?:\w+:)?v(?:\s[^<>]*)?>/
const FILLED_VALUE = /<(?:\w+:)?v(?:\s[^<>]*)?>[^<]/

export function removeTypesWithoutValues(sheetXml: string): string {
  if (!MAY_LACK_VALUE.test(sheetXml)) return sheetXml
  return sheetXml.replaceAll(CELL, (cell: string, _name: string, attributes: string, content = '') => {
    const type = TYPE.exec(attributes)?.[1]
    if (type === undefined) return cell
    // A formula that results in an empty text stores an empty value.
    const isStored = (type === 'str' ? VALUE : FILLED_VALUE).test(content as string)
    return isStored ? cell : cell.replace(TYPE, '')
  })
}
