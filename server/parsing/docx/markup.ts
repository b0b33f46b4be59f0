/** Rewrites markup that mammoth would drop into markup that it reads. */
import { decodeSymbolFont } from '#server/parsing/symbol-fonts.ts'

const RUBY_TEXT = /<w:rt(?:\s[^>]*)?>[\s\S]*?<\/w:rt>/g
/** Elements that only annotate their content: fields, text directions, ruby. */
const WRAPPERS = /<\/?w:(?:fldSimple|bdo|dir|ruby|rubyBase)(?:\s[^>]*)?>/g
const BREAKS = /<w:cr\s*\/>|<w:br\s[^>]*w:type="(?:page|column)"[^>]*\/>/g
const TABS = /<w:ptab\s[^>]*\/>/g
const SOFT_HYPHENS = /<w:softHyphen\s*\/>/g
const CHANGED_PROPERTIES = /<w:pPrChange\s[\s\S]*?<\/w:pPrChange>/g

/** A drop cap and the beginning of its paragraph (ECMA-376 part 1, 17.3.1.11). */
const INITIALS =
  /<w:pPr>(?:(?!<\/?w:pPr>)[\s\S]){0,999}?<w:framePr\s[^>]*w:dropCap="(?:drop|margin)"(?:(?!<\/?w:pPr>)[\s\S]){0,999}<\/w:pPr>((?:(?!<\/?w:p>)[\s\S]){0,9999}?)<\/w:p>\s*<w:p(?:\s[^>]*[^/])?>(<w:pPr>(?:(?!<\/?w:pPr>)[\s\S]){0,9999}<\/w:pPr>|<w:pPr\/>)?/g

/** Runs with their own `w:vanish`; runs that mark a field or note stay. */
const HIDDEN =
  /(<w:r(?:\s[^>]*)?>\s*<w:rPr>(?:(?!<\/w:rPr>)[\s\S]){0,999}?<w:vanish(?:\s+w:val="(?:1|true|on)")?\s*\/>(?:(?!<\/w:rPr>)[\s\S]){0,9999}?<\/w:rPr>)((?:(?!<\/?w:r[\s>])[\s\S]){0,99999}?<\/w:r>)/g
const SHOWN = /<w:t(?:\s[^>]*)?>[\s\S]*?<\/w:t>|<w:(?:tab|br|cr|sym|noBreakHyphen)(?:\s[^>]*)?\/>/g

const IN_SYMBOL =
  /<w:r(?:\s[^>]*)?>\s*<w:rPr>(?:(?!<\/w:rPr>)[\s\S]){0,999}?<w:rFonts\s[^>]*w:ascii="Symbol"(?:(?!<\/?w:r[\s>])[\s\S]){0,99999}?<\/w:r>/g

const ALTERNATIVES = /<mc:AlternateContent(?:\s[^>]*)?>((?:(?!<mc:AlternateContent)[\s\S])*?)<\/mc:AlternateContent>/g
const CHOICE = /<mc:Choice(?:\s[^>]*)?>([\s\S]*?)<\/mc:Choice>/
const FALLBACK = /<mc:Fallback(?:\s[^>]*)?>([\s\S]*?)<\/mc:Fallback>/

/** Page breaks become line ends, which keep adjacent words apart. */
export const normaliseMarkup = (xml: string): string =>
  xml
    .replaceAll(CHANGED_PROPERTIES, '')
    .replaceAll(IN_SYMBOL, decodeSymbolFont)
    .replaceAll(HIDDEN, (_, properties: string, inside: string) => properties + inside.replaceAll(SHOWN, ''))
    .replaceAll(INITIALS, (_, letter: string, properties = '') => `${properties}${letter}`)
    .replaceAll(RUBY_TEXT, '')
    .replaceAll(WRAPPERS, '')
    .replaceAll(BREAKS, '<w:br/>')
    .replaceAll(TABS, '<w:tab/>')
    .replaceAll(SOFT_HYPHENS, '')
    .replaceAll(ALTERNATIVES, (_, inside: string) => chooseAlternative(inside))

const HAS_CONTENT = /<(?:w:txbxContent|c:chart|dgm:relIds)\b/

/** Chooses the older form, which mammoth reads, unless only the newer one has content. */
function chooseAlternative(alternatives: string): string {
  const choice = CHOICE.exec(alternatives)?.[1] ?? ''
  const fallback = FALLBACK.exec(alternatives)?.[1] ?? ''
  return HAS_CONTENT.test(choice) && !HAS_CONTENT.test(fallback) ? choice : fallback
}
